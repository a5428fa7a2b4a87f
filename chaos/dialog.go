package chaos

import (
	"context"
	"slices"
	"unicode/utf8"

	"holdfast/messages"
)

// DialogResult is what the page got, and why.
type DialogResult struct {
	IsAccepted bool
	Text       string // what prompt returns; "" when it was dismissed
	By         ClosedBy
	Session    messages.SessionID // whose answer it was
	Conn       int                // its connection's number
	IsAlone    bool               // over a bridge: it continued since no debugger was left
	// IsUntold is set where the client whose answer it was could not learn that, over a bridge:
	// the reply has not left the browser, and none of the client's debuggers has stayed from the
	// answer until the call continued.
	IsUntold bool
	Host     string // whom that connection asked for
}

// ClosedBy says why a dialog is not open any more.
type ClosedBy string

// The ways a dialog ends.
const (
	ClosedByAnswer     ClosedBy = "answer"     // Page.handleJavaScriptDialog
	ClosedByNavigation ClosedBy = "navigation" // navigate, reload or close of the page (C13)
	ClosedByCrash      ClosedBy = "crash"      // of its renderer, or of the tab
	ClosedByOther      ClosedBy = "other"      // another dialog opened on the page (C14)
	ClosedByRelease    ClosedBy = "release"    // the tab lost the foreground without a session on it (C19)
	ClosedByBackground ClosedBy = "background" // never shown: background tab without a debugger (C5)
	ClosedByUser       ClosedBy = "user"       // [Browser.CloseDialog]
	ClosedByNothing    ClosedBy = "nothing"    // over a bridge: resumed without an answer, or never stopped
)

// DialogType is what kind of dialog it is.
type DialogType string

// The types that Chrome has.
const (
	Alert        DialogType = "alert"
	Confirm      DialogType = "confirm"
	Prompt       DialogType = "prompt"
	BeforeUnload DialogType = "beforeunload"
)

// Dialog is a JavaScript dialog: a native one, or what a page asks over a bridge.
type Dialog struct {
	b       *Browser
	frame   *frame
	loader  string // of the document that raises it
	proc    *proc
	kind    DialogType
	message string
	prompt  string

	audience   []*session // who saw it open and may answer (C6)
	isPoisoned bool       // its frame was removed under it (C15)
	isDoomed   bool       // its document is being replaced (C58)
	isClosed   bool
	result     DialogResult
	done       chan struct{}

	stay, leave func()             // of a beforeunload
	then        func(DialogResult) // of the script that raised it
	broken      func()             // its document went before it had come to that

	waits *pause // over a bridge, there
}

type openingParams struct {
	URL               string           `json:"url"`
	FrameID           messages.FrameID `json:"frameId"`
	Message           string           `json:"message"`
	Type              DialogType       `json:"type"`
	HasBrowserHandler bool             `json:"hasBrowserHandler"`
	DefaultPrompt     string           `json:"defaultPrompt"`
}

type closedParams struct {
	FrameID   messages.FrameID `json:"frameId"`
	Result    bool             `json:"result"`
	UserInput string           `json:"userInput"`
}

// maxMessage is where Chrome cuts a dialog's message (C2).
const maxMessage = 10240

// OpenDialog has a script of the frame raise a dialog. It opens as soon as the
// frame's scripts can run; when its document goes before that, it never does.
// nil means that there is no such frame.
func (b *Browser) OpenDialog(id messages.FrameID, kind DialogType, message, defaultPrompt string) (d *Dialog) {
	b.do(func() {
		f := b.frame(id)
		if f == nil {
			return
		}
		d = b.newDialog(f, kind, message, defaultPrompt)
		b.queue(f.target.proc, func() { b.showDialog(d) })
	})
	return d
}

func (b *Browser) newDialog(f *frame, kind DialogType, message, defaultPrompt string) *Dialog {
	if len(message) > maxMessage {
		message = message[:maxMessage]
		for !utf8.ValidString(message) {
			message = message[:len(message)-1]
		}
	}
	return &Dialog{b: b, frame: f, loader: f.loader, kind: kind, message: message, prompt: defaultPrompt, done: make(chan struct{})}
}

func (b *Browser) openDialog(f *frame, kind DialogType, message, defaultPrompt string) *Dialog {
	d := b.newDialog(f, kind, message, defaultPrompt)
	b.showDialog(d)
	return d
}

// showDialog opens d. Only the sessions of the page's own target hear of it,
// whichever frame raised it (C7), and only those that have Page enabled now
// will ever be able to answer (C5).
func (b *Browser) showDialog(d *Dialog) {
	d.proc = d.frame.target.proc
	if b.frame(d.frame.id) != d.frame || d.frame.loader != d.loader {
		b.finish(d, DialogResult{By: ClosedByNavigation})
		return
	}
	if d.kind != BeforeUnload && b.askBridged(d, d.frame.bridges) {
		return
	}
	b.showNative(d)
}

func (b *Browser) showNative(d *Dialog) {
	p := d.frame.page
	if len(p.target.sessions) == 0 && b.front != p {
		b.finish(d, DialogResult{By: ClosedByBackground, IsAccepted: d.kind == Alert})
		return
	}
	if p.isPoisoned() {
		b.die()
		return
	}
	d.isDoomed = p.coming != nil
	before := slices.Clone(p.dialogs)
	p.dialogs = append(p.dialogs, d)
	d.proc.dialogs++
	p.target.each(isPageInBrowser, "Page.javascriptDialogOpening", openingParams{
		d.frame.url, d.frame.id, d.message, d.kind, true, d.prompt,
	})
	if len(before) == 0 {
		for _, s := range p.target.sessions {
			if s.isPageInBrowser {
				d.audience = append(d.audience, s)
			}
		}
		return
	}
	// Two at once: the first is dismissed, the second cannot be reached (C14).
	for _, o := range before {
		b.closeDialog(o, DialogResult{By: ClosedByOther})
		b.settle(o)
	}
}

// closeDialog reports the end of d. The page continues in [Browser.settle], which the
// caller runs once the closing command has its reply.
func (b *Browser) closeDialog(d *Dialog, r DialogResult) {
	d.frame.page.dialogs = slices.DeleteFunc(d.frame.page.dialogs, func(o *Dialog) bool { return o == d })
	if d.stay != nil && !r.IsAccepted {
		d.stay()
	}
	d.frame.page.target.each(isPageInBrowser, "Page.javascriptDialogClosed", closedParams{d.frame.id, r.IsAccepted, r.Text})
	if !r.IsAccepted || d.kind != Prompt {
		r.Text = "" // echoed in the event, but the page never sees it (C3)
	}
	d.result = r
}

func (b *Browser) settle(d *Dialog) {
	d.proc.dialogs--
	b.finish(d, d.result)
	if d.leave != nil && d.result.IsAccepted {
		d.leave()
	}
	b.drain(d.proc)
	b.letCome(d.frame.page)
}

func (b *Browser) finish(d *Dialog, r DialogResult) {
	d.isClosed, d.result = true, r
	close(d.done)
	if d.then != nil {
		d.then(r)
	}
}

// closeDialogs is what navigating, reloading or closing a page does to its
// dialogs (C13, C21). false: one was poisoned and the browser is gone.
func (b *Browser) closeDialogs(p *page) bool {
	for _, d := range slices.Clone(p.dialogs) {
		if d.isPoisoned {
			b.die()
			return false
		}
		b.closeDialog(d, DialogResult{By: ClosedByNavigation})
		b.settle(d)
	}
	return true
}

// closeDialogsOf closes the dialogs of the frames within root that live in p.
func (b *Browser) closeDialogsOf(p *proc, root *frame) {
	for _, d := range slices.Clone(root.page.dialogs) {
		if d.proc == p && !d.isPoisoned && d.frame.isWithin(root) {
			b.closeDialog(d, DialogResult{By: ClosedByNavigation})
			b.settle(d)
		}
	}
}

// release is the release of C19: a tab that has no session of its own and loses the
// foreground drops its dialogs, poisoned ones too. It does nothing for a beforeunload
// (C20).
func (b *Browser) release(p *page) {
	if p == nil || p.isClosed || len(p.target.sessions) > 0 {
		return
	}
	for _, d := range slices.Clone(p.dialogs) {
		if d.kind == BeforeUnload {
			continue
		}
		b.closeDialog(d, DialogResult{By: ClosedByRelease, IsAccepted: d.kind == Alert})
		b.settle(d)
	}
}

// pending returns the dialog that s may answer, or nil.
func (p *page) pending(s *session) *Dialog {
	for _, d := range p.dialogs {
		if slices.Contains(d.audience, s) && s.isPageInBrowser {
			return d
		}
	}
	return nil
}

// CloseDialog ends an open dialog as the page's user does, at the screen.
func (b *Browser) CloseDialog(d *Dialog, accept bool, text string) bool {
	closed := false
	b.do(func() {
		if d.isClosed || d.isPoisoned || !slices.Contains(d.frame.page.dialogs, d) {
			return
		}
		closed = true
		b.closeDialog(d, DialogResult{IsAccepted: accept, Text: text, By: ClosedByUser})
		b.settle(d)
	})
	return closed
}

// Page is the tab whose frame raised the dialog.
func (d *Dialog) Page() messages.TargetID { return d.frame.page.target.id }

// Frame is the frame that raised it.
func (d *Dialog) Frame() messages.FrameID { return d.frame.id }

// Type says what kind of dialog it is.
func (d *Dialog) Type() DialogType { return d.kind }

// Message is its text, as Chrome shows it.
func (d *Dialog) Message() string { return d.message }

// Result returns what the page got; ok is false while the dialog is open.
func (d *Dialog) Result() (r DialogResult, ok bool) {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.result, d.isClosed
}

// Wait waits for the end of the dialog.
func (d *Dialog) Wait(ctx context.Context) (DialogResult, error) {
	select {
	case <-d.done:
		r, _ := d.Result()
		return r, nil
	case <-ctx.Done():
		return DialogResult{}, ctx.Err()
	}
}

// Done is closed when the dialog is not open any more.
func (d *Dialog) Done() <-chan struct{} { return d.done }

// Answerable returns how many sessions could answer it now.
func (d *Dialog) Answerable() int {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return len(d.reachable())
}

// Audience returns the connections on which it could be answered now, each once.
func (d *Dialog) Audience() []*Conn {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	var conns []*Conn
	for _, s := range d.reachable() {
		if !slices.Contains(conns, s.conn) {
			conns = append(conns, s.conn)
		}
	}
	return conns
}

// IsBridged says whether it waits over a bridge.
func (d *Dialog) IsBridged() bool {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.waits != nil
}

// reachable returns the sessions that could answer, but for those of clients of a gateway, which
// has the task answer for them: these are below a browser session of their own (C57).
func (d *Dialog) reachable() []*session {
	return slices.DeleteFunc(slices.Clone(d.answerers()), (*session).isBelowBrowser)
}

func (s *session) isBelowBrowser() bool {
	for o := s.owner; o != nil; o = o.owner {
		if o.target == nil && o.owner != nil {
			return true
		}
	}
	return false
}

func (d *Dialog) answerers() []*session {
	switch {
	case d.isClosed:
		return nil
	case d.waits != nil:
		return d.waits.answerable()
	case slices.Contains(d.frame.page.dialogs, d):
		return d.audience
	default:
		return nil
	}
}

// IsDoomed says whether it opened while the next document of its page came (C58).
func (d *Dialog) IsDoomed() bool {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.isDoomed
}

// IsPoisoned says whether answering it would kill the browser (C15).
func (d *Dialog) IsPoisoned() bool {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.isPoisoned && !d.isClosed
}
