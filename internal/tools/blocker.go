package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"holdfast/internal/redact"
	"holdfast/messages"
)

// blockerTools answer what pages ask their browser for, and what keeps them from being shown,
// besides dialogs (X27).
var blockerTools = []Tool{
	define[blockerInput, unblocked](Tool{
		Name: "browser_blocker", Title: "Answer blocker", Group: "dialogs",
		Description: "Answer what a page asks its browser for, or what keeps it from being shown. accept: basic_auth takes username and password, file_chooser takes files, permission is granted for the site, print and pdf become artifacts, certificate is accepted for this tab. dismiss: denied, or goes back.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runBlocker),
}

// blocker is one that is open. One that the tool has seen by itself has no id.
type blocker struct {
	messages.Blocker
	address *url.URL // whole, with what is masked in URL
}

type blockerInput struct {
	on
	Action    string       `json:"action" enum:"accept|dismiss"`
	BlockerID string       `json:"blocker_id,omitempty" maxlen:"64" jsonschema:"default: the only one of the tab"`
	Username  string       `json:"username,omitempty" maxlen:"1000" jsonschema:"for basic_auth"`
	Password  string       `json:"password,omitempty" maxlen:"1000" jsonschema:"for basic_auth"`
	Files     []uploadFile `json:"files,omitempty" jsonschema:"for file_chooser"`
}

type unblocked struct {
	Type messages.BlockerType `json:"type"`
	URL  string               `json:"url"`
	// BlockerID is absent where the blocker was not in the task's state yet.
	BlockerID messages.BlockerID `json:"blocker_id,omitempty"`
	// ArtifactID is what was printed or saved.
	ArtifactID messages.ArtifactID `json:"artifact_id,omitempty"`
}

// blockerScript asks a page of the browser's own what it is about. It is no page of a site: such
// a one has an address that can be reached. The raw data are those that Chrome's own script shows.
const blockerScript = `(() => {
  const raw = globalThis.loadTimeDataRaw || {}, nav = performance.getEntriesByType('navigation')[0] || {};
  return {isOwn: location.protocol === 'chrome-error:', status: nav.responseStatus || 0, type: String(raw.type || ''), code: String(raw.errorCode || '')};
})()`

// seen finds what keeps the tab from showing its page, by the page itself. The task's state may
// know of it a moment later.
func (c *call) seen(ctx context.Context) (found blocker, ok bool) {
	tree, err := c.localFrames(ctx, "")
	if err != nil || tree.Frame.Unreachable == "" {
		return blocker{}, false
	}
	var got evaluation
	var about struct {
		IsOwn  bool   `json:"isOwn"`
		Status int    `json:"status"`
		Type   string `json:"type"`
		Code   string `json:"code"`
	}
	if err := c.cdp(ctx, "", "Runtime.evaluate", map[string]any{"expression": blockerScript, "returnByValue": true}, &got, quickly); err != nil || json.Unmarshal(got.Result.Value, &about) != nil || !about.IsOwn {
		return blocker{}, false
	}
	at, err := url.Parse(tree.Frame.Unreachable)
	if err != nil {
		return blocker{}, false
	}
	at.User = nil // those of a log-in that failed
	found.address = at
	found.Type, found.URL, found.Reason = messages.BlockerOf(about.Status, about.Type, about.Code), cut(redact.PageURL(at.String()), maxShownURL), cut(about.Code, 100)
	found.Message, found.TargetID = "the page is not shown", c.target
	return found, found.Type != ""
}

// blockersOf are the open blockers of the tab, by the task's state.
func (c *call) blockersOf(target messages.TargetID) (open []messages.Blocker) {
	if snap, err := c.snapshot(); err == nil {
		for _, b := range snap.Blockers {
			if b.TargetID == target {
				open = append(open, b)
			}
		}
	}
	return open
}

// blocked are the blockers of the tab. The page is looked at where it may be an error page.
func (c *call) blocked(ctx context.Context, target messages.TargetID, isError bool) []messages.Blocker {
	open := c.blockersOf(target)
	for _, b := range open {
		if b.Type == messages.BlockerBasicAuth || b.Type == messages.BlockerCertificate {
			return open
		}
	}
	if isError {
		if found, ok := c.seen(ctx); ok {
			return append(open, found.Blocker)
		}
	}
	return open
}

// writeBlockers writes what stands on top of a snapshot.
func writeBlockers(b *strings.Builder, open []messages.Blocker) {
	for _, one := range open {
		id := string(one.ID)
		if id != "" {
			id += " "
		}
		fmt.Fprintf(b, "BLOCKER %s%s %s (%s): answer it with browser_blocker\n", id, one.Type, cut(one.URL, 500), cut(one.Message, maxShownMessage))
	}
}

// unblocks are the answers to a blocker.
func (c *call) unblocks(b messages.Blocker) []messages.NextAction {
	accept, dismiss := messages.ToolInput{"action": messages.ActionAccept}, messages.ToolInput{"action": messages.ActionDismiss}
	if b.ID != "" {
		accept["blocker_id"], dismiss["blocker_id"] = b.ID, b.ID
	}
	why, not := "", "go back"
	switch b.Type {
	case messages.BlockerBasicAuth:
		accept["username"], accept["password"] = "", ""
		why = "log in; fill in username and password"
	case messages.BlockerCertificate:
		why = "show the page in spite of its certificate"
	case messages.BlockerFileChooser:
		accept["files"] = []any{}
		why, not = "give the files; fill in name and content, or artifact_id", "give none"
	case messages.BlockerPermission:
		why, not = "grant "+b.Permission, "deny it"
	case messages.BlockerPrint:
		why, not = "save the page as a PDF", "ignore it"
	case messages.BlockerPDF:
		why = "save the PDF as an artifact"
	}
	return []messages.NextAction{c.onPage("browser_blocker", why, accept), c.onPage("browser_blocker", not, dismiss)}
}

// unblockAll are the answers to the blockers that an error names.
func (c *call) unblockAll(err *messages.Error) (out []messages.NextAction) {
	named, _ := err.Details["blockers"].([]messages.Blocker)
	for _, b := range named[:min(maxAnswered, len(named))] {
		out = append(out, c.unblocks(b)...)
	}
	return out
}

// toAnswer finds the blocker that an answer is for.
func (c *call) toAnswer(ctx context.Context, id string) (blocker, error) {
	snap, err := c.snapshot()
	if err != nil {
		return blocker{}, err
	}
	if id != "" {
		for _, b := range snap.Blockers {
			if string(b.ID) == id {
				c.target = b.TargetID
				return blocker{Blocker: b}, nil
			}
		}
		return blocker{}, messages.Errorf(messages.CodeNotActionable, "the task has no open blocker %s", cut(id, 64)).With("why", "no blocker")
	}
	target, err := c.page()
	if err != nil {
		return blocker{}, err
	}
	switch open := c.blockersOf(target); len(open) {
	case 1:
		return blocker{Blocker: open[0]}, nil
	case 0:
		if found, ok := c.seen(ctx); ok {
			return found, nil
		}
		return blocker{}, messages.Errorf(messages.CodeNotActionable, "nothing blocks the tab").With("why", "no blocker")
	default:
		return blocker{}, messages.Errorf(messages.CodeDialogAmbiguous, "the tab has %d blockers: name one by blocker_id", len(open)).With("blockers", open)
	}
}

func runBlocker(ctx context.Context, c *call, in blockerInput) (outcome, error) {
	b, err := c.toAnswer(ctx, in.BlockerID)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{data: unblocked{Type: b.Type, URL: b.URL, BlockerID: b.ID}}
	isAccepted := in.Action == string(messages.ActionAccept)
	switch b.Type {
	case messages.BlockerBasicAuth, messages.BlockerCertificate:
		return c.unblockPage(ctx, b, in, out)
	case messages.BlockerPermission:
		out.text = "Denied: " + b.Permission + "."
		if isAccepted {
			return c.grant(ctx, b, in, out)
		}
	case messages.BlockerFileChooser:
		out.text = "Gave no file."
		if isAccepted {
			out.text, err = c.giveFiles(ctx, b, in.Files)
			out.isOfPage = true
		}
	case messages.BlockerPrint:
		out.text = "Not printed."
		if isAccepted {
			out, err = c.printed(ctx, b)
		}
	case messages.BlockerHuman:
		out.text = "The question is withdrawn."
		if isAccepted {
			return outcome{}, messages.Errorf(messages.CodeForbidden, "blocker %s waits for a person's answer", b.ID)
		}
	case messages.BlockerPDF:
		if isAccepted {
			out, err = c.savePDF(ctx, b)
			break
		}
		out.text, err = "Went back.", c.goBack(ctx)
		return out, err // the page that goes takes the blocker along
	}
	if err != nil {
		return outcome{}, err
	}
	return out, c.close(ctx, b, in.Action)
}

// close takes a blocker from the task's state; a page that waits for it continues.
func (c *call) close(ctx context.Context, b blocker, action string) error {
	if b.ID == "" {
		return nil
	}
	_, err := c.node.AnswerBlocker(ctx, c.task, messages.BlockerAnswer{BlockerID: b.ID, Action: messages.Action(action)})
	return err
}

// unblockPage shows a page that wants credentials or has a certificate that does not hold, or goes
// back from it.
func (c *call) unblockPage(ctx context.Context, b blocker, in blockerInput, out outcome) (outcome, error) {
	found, ok := c.seen(ctx)
	if !ok {
		return outcome{}, messages.Errorf(messages.CodeNotActionable, "nothing blocks the tab any more").With("why", "no blocker")
	}
	b.address = found.address
	if err := c.close(ctx, b, in.Action); err != nil && messages.CodeOf(err) != messages.CodeNotFound {
		return outcome{}, err
	}
	if in.Action == string(messages.ActionDismiss) {
		out.text = "Went back."
		return out, c.goBack(ctx)
	}
	if b.Type == messages.BlockerBasicAuth {
		if err := c.logIn(ctx, b, in); err != nil {
			return outcome{}, err
		}
	} else if err := c.cdp(ctx, "", "Security.setIgnoreCertificateErrors", map[string]any{"ignore": true}, nil, quickly); err != nil {
		return outcome{}, err
	}
	text, err := goTo(ctx, c, messages.NavigateRequest{URL: b.address.String()})
	if err != nil {
		return outcome{}, err
	}
	out.text, out.isOfPage = text, true
	return out, nil
}

// giveFiles gives files to the input that a chooser was for.
func (c *call) giveFiles(ctx context.Context, b blocker, files []uploadFile) (string, error) {
	given, done, err := c.allGiven(files)
	defer done()
	if err != nil {
		return "", err
	}
	at := place{target: b.TargetID, frame: b.FrameID}
	if at.session, err = c.sessionFrame(b.TargetID, b.FrameID); err != nil {
		return "", err
	}
	e, err := c.hold(ctx, at, b.BackendNodeID)
	if err != nil {
		return "", err
	}
	e.what = "The file input"
	count, err := c.upload(ctx, e, given)
	return e.what + " has " + plural(count, "file") + ".", err
}

// sessionFrame is the frame of another process by whose session a frame is reached; "" is the
// page's own.
func (c *call) sessionFrame(target messages.TargetID, frame messages.FrameID) (messages.FrameID, error) {
	snap, err := c.node.Snapshot(c.task, messages.SnapshotOptions{TargetID: target, Full: true})
	if err != nil || snap.FrameTree == nil {
		return "", err
	}
	for range snap.FrameTree.Children { // no further up than there are frames
		for _, n := range snap.FrameTree.Children {
			if n.FrameID != frame {
				continue
			}
			if n.IsOOPIF {
				return frame, nil
			}
			frame = n.ParentFrameID
			break
		}
	}
	return "", nil
}

// askNotice is after what time a call that waits for its page is looked after: the page may wait
// itself, for an answer to what it asks.
const askNotice = 100 * time.Millisecond

// unlessAsked runs what waits for a page, and ends it as soon as the page waits for an answer to a
// new question.
func (c *call) unlessAsked(ctx context.Context, run func(context.Context) error) error {
	target, err := c.page()
	if err != nil {
		return err
	}
	before := c.blockersOf(target)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	notice := time.AfterFunc(askNotice, func() {
		defer close(done)
		events, err := c.node.Watch(ctx, c.task, 0, false)
		if err != nil {
			return
		}
		defer events.Close()
		for {
			for _, b := range c.blockersOf(target) {
				if b.Type == messages.BlockerPermission && !hasBlocker(before, b.ID) {
					cancel(messages.Errorf(messages.CodeBlockedByDialog, "the page waits: %s (blocker %s)", b.Message, b.ID).With("blockers", []messages.Blocker{b}))
					return
				}
			}
			if _, err := events.Next(ctx); err != nil {
				return
			}
		}
	})
	err = run(ctx)
	if asked := context.Cause(ctx); err != nil && asked != nil && messages.CodeOf(asked) == messages.CodeBlockedByDialog {
		err = asked
	}
	cancel(nil)
	if !notice.Stop() {
		<-done
	}
	return err
}

func hasBlocker(all []messages.Blocker, id messages.BlockerID) bool {
	for _, b := range all {
		if b.ID == id {
			return true
		}
	}
	return false
}

// logIn has the browser know the credentials: it keeps those that an address had, for its site.
// The page itself is then opened by its plain address, so that no script of it can read them from
// its timeline.
func (c *call) logIn(ctx context.Context, b blocker, in blockerInput) error {
	if in.Username == "" {
		return messages.Errorf(messages.CodeInvalidArgument, "give username and password")
	}
	at := *b.address
	at.User = url.UserPassword(in.Username, in.Password)
	target, err := c.page()
	if err != nil {
		return err
	}
	_, err = c.node.Navigate(ctx, c.task, messages.NavigateRequest{URL: at.String(), TargetID: target, WaitUntil: messages.WaitCommit})
	return err
}

// goBack goes to the entry of the history before the one that is blocked, or to an empty page.
func (c *call) goBack(ctx context.Context) error {
	var history struct {
		Current int `json:"currentIndex"`
		Entries []struct {
			ID  int    `json:"id"`
			URL string `json:"url"`
		} `json:"entries"`
	}
	if err := c.cdp(ctx, "", "Page.getNavigationHistory", struct{}{}, &history, quickly); err != nil {
		return err
	}
	address := "about:blank"
	if i := history.Current - 1; i >= 0 && i < len(history.Entries) {
		address = history.Entries[i].URL
	}
	_, err := goTo(ctx, c, messages.NavigateRequest{URL: address})
	if err != nil {
		return fmt.Errorf("go back: %w", err)
	}
	return nil
}
