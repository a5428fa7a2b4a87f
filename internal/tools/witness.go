package tools

import (
	"context"
	"slices"
	"time"

	"holdfast/messages"
)

// note is what the page has noted of an action.
type note struct {
	IsReached bool         `json:"reached"`
	IsPressed bool         `json:"pressed"`
	IsPointed bool         `json:"pointed"`
	IsThere   bool         `json:"there"`
	HasFailed bool         `json:"failed"`
	IsActive  bool         `json:"active"`
	IsInForm  bool         `json:"form"`
	IsOfFile  bool         `json:"link"` // it is in a link with the attribute download
	Chooser   *fileChooser `json:"chooser"`
	IsClosed  bool         `json:"closed"` // it is a combobox whose list is not open

	URL string `json:"url"`
	Now string `json:"now"`
	Nav *struct {
		URL        string `json:"url"`
		IsSame     bool   `json:"same"`
		IsDownload bool   `json:"download"`
	} `json:"nav"`
}

// witness sees what an action does to a page.
type witness struct {
	*call
	e      element
	before *messages.Snapshot
	loader string
	// underWay counts the downloads that were under way before the action.
	underWay int
}

// The waits for what follows an action.
const (
	fileWait     = time.Second // for a download that a link is for
	popupWait    = 30 * time.Millisecond
	openedWait   = 3 * time.Second // for a page that is being opened
	commitWait   = 2 * time.Second // for the document that a navigation brings
	loadWait     = 5 * time.Second
	commitNotice = 20 * time.Millisecond
)

// watch begins to watch for what an action on the element does.
func (c *call) watch(ctx context.Context, e element) (*witness, error) {
	snap, err := c.snapshot()
	if err != nil {
		return nil, err
	}
	w := &witness{call: c, e: e, before: snap}
	if err := c.run(ctx, e, armScript, nil); err != nil {
		return nil, err
	}
	if w.loader, err = c.loaderOf(ctx, e.place); err != nil {
		return nil, err
	}
	// What was there before is no outcome of this action, and what cannot be kept does not stop it.
	_, _ = w.hasDownload(ctx)
	w.got = nil
	return w, nil
}

// aimPatience is how long the browser may take to learn where a frame is.
const aimPatience = time.Second

// aim moves the pointer over the element. The browser sends input to a frame of another process by
// where that was drawn last, so after a scroll it may go elsewhere: there the pointer is moved until
// the element has felt it, and nothing is pressed before.
func (w *witness) aim(ctx context.Context, at spot) error {
	for began := time.Now(); ; {
		err := w.mouse(ctx, "mouseMoved", at, nil)
		if err != nil || w.e.session == "" {
			return err
		}
		var n note
		if err := w.run(ctx, w.e, noteScript, &n); err != nil || n.IsPointed {
			return err
		}
		if time.Since(began) > aimPatience {
			return notReached(w.e)
		}
		if err := pause(ctx, commitNotice); err != nil {
			return err
		}
	}
}

// hasDownload says whether a download has begun or ended since it was asked last.
func (w *witness) hasDownload(ctx context.Context) (bool, error) {
	if w.artifacts == nil || w.downloadDir() == "" {
		return false, nil
	}
	files, underWay, err := w.collect(ctx)
	began := underWay > w.underWay
	w.underWay = underWay
	w.got = append(w.got, files...)
	return began || len(files) > 0, err
}

// loaderOf is the document of a frame now.
func (c *call) loaderOf(ctx context.Context, at place) (loader string, err error) {
	tree, err := c.localFrames(ctx, at.session)
	tree.each("", func(id, _ messages.FrameID, l string) {
		if id == at.frame {
			loader = l
		}
	})
	return loader, err
}

// settle says what the action did. acted is the error of the action itself: a dialog or a page
// that leaves may end it early.
func (w *witness) settle(ctx context.Context, acted error) (actionOutput, error) {
	out := actionOutput{Outcome: didNothing}
	if d := w.hasNewDialog(); d || messages.CodeOf(acted) == messages.CodeBlockedByDialog {
		out.Outcome = didDialog
		return out, nil
	}
	var n note
	err := acted
	if err == nil {
		err = w.run(ctx, w.e, noteScript, &n)
	}
	switch messages.CodeOf(err) {
	case "":
	case messages.CodeBlockedByDialog:
		out.Outcome = didDialog
		return out, nil
	case messages.CodeCDPError, messages.CodeFrameNotFound, messages.CodeFrameNotOOPIF, messages.CodeTargetNotFound:
		// The document that was acted on is gone.
		return w.arrived(ctx, out)
	default:
		return out, err
	}
	if out.FileChooser = n.Chooser; out.FileChooser != nil {
		out.FileChooser.Selector = cut(out.FileChooser.Selector, maxShownURL)
	}
	out.ClickDispatch = "not-reached"
	if n.IsReached || n.IsPressed {
		out.ClickDispatch = "trusted"
	}
	switch {
	case n.Nav != nil && n.Nav.IsDownload:
		out.Outcome = didDownload
	case n.Nav != nil && !n.Nav.IsSame:
		return w.awaitCommit(ctx, out)
	case n.Now != n.URL:
		out.Outcome, out.URL = didNavigate, shownURL(n.Now)
	case n.IsReached && n.IsOfFile && w.hasFileSoon(ctx):
		out.Outcome = didDownload
	case out.FileChooser != nil:
		// The chooser has used the activation up.
	default:
		// A page that opens another uses up the activation that the click gave it, and a form
		// is sent a moment after its click. Nothing else is worth a wait.
		wait := popupWait
		switch {
		case n.IsReached && !n.IsActive:
			wait = openedWait
		case n.IsReached && !n.IsInForm:
			wait = 0
		}
		if n.IsClosed && n.IsReached {
			out.IsClosedList = w.isStayingClosed(ctx)
		}
		return w.awaitPopup(ctx, out, wait)
	}
	return out, nil
}

// hasFileSoon says whether a download begins in a moment. Not every document tells of one: that of
// a data: address does not.
func (w *witness) hasFileSoon(ctx context.Context) bool {
	for began := time.Now(); time.Since(began) < fileWait; {
		isThere, err := w.hasDownload(ctx)
		if err != nil || w.artifacts == nil || w.downloadDir() == "" {
			return false
		}
		if isThere {
			return true
		}
		if pause(ctx, commitNotice) != nil {
			return false
		}
	}
	return false
}

// hasNewDialog says that a dialog is open on the page that was not before.
func (w *witness) hasNewDialog() bool {
	now, err := w.snapshot()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(now.PendingDialogs, func(d messages.Dialog) bool {
		return !slices.ContainsFunc(w.before.PendingDialogs, func(old messages.Dialog) bool { return old.ID == d.ID })
	})
}

// awaitPopup waits for a moment for a page that the action may have opened.
func (w *witness) awaitPopup(ctx context.Context, out actionOutput, wait time.Duration) (actionOutput, error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	events, err := w.node.Watch(waiting, w.task, w.before.Version, true)
	if err != nil {
		return out, err
	}
	defer events.Close()
	for {
		now, err := w.snapshot()
		if err != nil {
			return out, err
		}
		if w.hasNewDialog() {
			out.Outcome = didDialog
			return out, nil
		}
		for _, p := range now.Pages {
			if !slices.ContainsFunc(w.before.Pages, func(old messages.Page) bool { return old.TargetID == p.TargetID }) {
				out.Outcome, out.URL = didPopup, cut(p.URL, maxShownURL)
				out.PopupTabID = w.memory.tabs(now).idOf(p.TargetID)
				return out, nil
			}
		}
		if _, err := events.Next(waiting); err != nil {
			return w.late(ctx, out)
		}
	}
}

// late looks once more for a navigation: the submission of a form begins a moment after its key.
func (w *witness) late(ctx context.Context, out actionOutput) (actionOutput, error) {
	var n note
	switch err := w.run(ctx, w.e, noteScript, &n); messages.CodeOf(err) {
	case "":
		if n.Nav != nil && !n.Nav.IsSame && !n.Nav.IsDownload {
			return w.awaitCommit(ctx, out)
		}
		if n.Now != n.URL {
			out.Outcome, out.URL = didNavigate, shownURL(n.Now)
		}
	case messages.CodeBlockedByDialog:
		out.Outcome = didDialog
	case messages.CodeCDPError, messages.CodeFrameNotFound, messages.CodeFrameNotOOPIF, messages.CodeTargetNotFound:
		return w.arrived(ctx, out)
	}
	return out, nil
}

// awaitCommit waits for the document that a navigation brings. One that brings none was a
// download.
func (w *witness) awaitCommit(ctx context.Context, out actionOutput) (actionOutput, error) {
	began := time.Now()
	for time.Since(began) < commitWait {
		loader, err := w.loaderOf(ctx, w.e.place)
		switch {
		case w.hasNewDialog():
			out.Outcome = didDialog
			return out, nil
		case err != nil || loader != w.loader:
			return w.arrived(ctx, out)
		}
		if isThere, err := w.hasDownload(ctx); err == nil && isThere {
			out.Outcome = didDownload
			return out, nil
		}
		var n note
		if w.run(ctx, w.e, noteScript, &n) == nil && n.HasFailed {
			out.Outcome = didDownload
			return out, nil
		}
		if err := pause(ctx, commitNotice); err != nil {
			return out, err
		}
	}
	out.Outcome = didNavigate // begun, and not there yet
	return out, nil
}

// arrived waits until the new document can be read.
func (w *witness) arrived(ctx context.Context, out actionOutput) (actionOutput, error) {
	out.Outcome = didNavigate
	began := time.Now()
	for time.Since(began) < loadWait {
		var got evaluation
		err := w.cdp(ctx, "", "Runtime.evaluate", map[string]any{"expression": "document.readyState !== 'loading' && location.href", "returnByValue": true}, &got, quickly)
		switch {
		case messages.CodeOf(err) == messages.CodeBlockedByDialog:
			out.Outcome = didDialog
			return out, nil
		case messages.CodeOf(err) == messages.CodeTargetNotFound:
			out.Outcome = "closed"
			return out, nil
		case err == nil && len(got.Result.Value) > 2 && got.Result.Value[0] == '"':
			out.URL = shownURL(string(got.Result.Value[1 : len(got.Result.Value)-1]))
			return out, nil
		case ctx.Err() != nil:
			return out, ctx.Err()
		}
		if err := pause(ctx, commitNotice); err != nil {
			return out, err
		}
	}
	return out, nil
}
