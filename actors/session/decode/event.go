// Package decode turns CDP events into the facts that the machines of a task take.
//
// It runs on the goroutine that reads the link, keeps nothing of what it reads, and bounds
// every text. Events that pages cause by the thousand are read by a scanner (scanner.go);
// what is not as Chrome writes it is left to encoding/json.
package decode

import (
	"encoding/json"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/clip"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport"
)

// Events are the CDP events that Holdfast uses. All others end in the link's reader,
// counted and never decoded, and so do those of them that are [Unwanted]. All links share
// the list.
func Events() []string { return events }

// AnchorEvents are those that a task's anchor link uses.
func AnchorEvents() []string { return anchorEvents }

// In order, so that a link has no list of its own.
var (
	events = []string{
		"Debugger.paused",
		"Debugger.resumed",
		"Debugger.scriptParsed",
		"Fetch.requestPaused",
		"Inspector.targetCrashed",
		"Inspector.targetReloadedAfterCrash",
		fileChooserOpened,
		"Page.frameAttached",
		"Page.frameDetached",
		"Page.frameNavigated",
		"Page.frameStartedNavigating",
		"Page.frameSubtreeWillBeDetached",
		"Page.javascriptDialogClosed",
		"Page.javascriptDialogOpening",
		"Page.lifecycleEvent",
		"Page.navigatedWithinDocument",
		"Runtime.bindingCalled",
		"Runtime.consoleAPICalled",
		"Runtime.exceptionThrown",
		"Target.attachedToTarget",
		"Target.detachedFromTarget",
		"Target.targetDestroyed",
		"Target.targetInfoChanged",
	}
	anchorEvents = []string{
		"Debugger.paused",
		"Debugger.resumed",
		"Debugger.scriptParsed",
		"Fetch.requestPaused",
		"Inspector.targetCrashed",
		"Inspector.targetReloadedAfterCrash",
		"Page.frameDetached",
		"Page.frameNavigated",
		"Page.javascriptDialogClosed",
		"Page.javascriptDialogOpening",
		"Runtime.bindingCalled",
		"Target.attachedToTarget",
		"Target.detachedFromTarget",
		"Target.targetDestroyed",
	}
)

// FrameNavigated is the event of a frame's new document.
const FrameNavigated = "Page.frameNavigated"

// Events that concern one session only and never leave its machine.
type (
	Lifecycle struct {
		Frame  messages.FrameID
		Loader string
		Name   string
	}
	// Navigating is told by the browser process: a page that cannot say
	// anything goes somewhere all the same.
	Navigating struct {
		Frame  messages.FrameID
		Loader string
	}
	// MovedOn says that the page was moved on from a doomed dialog, by whichever link.
	MovedOn struct{}
	Crashed struct{}
	Revived struct{}
)

// TargetDestroyed concerns the browser session only.
type TargetDestroyed struct{ Target messages.TargetID }

// What is kept of an event is bounded, since tens of thousands may wait in a
// mailbox: texts each by its own measure, ids and the like by MaxID bytes. The
// events that hold no text, and no stack of a script, which names its source up to
// two hundred times in the page's own words, are small, or not the browser's.
const (
	maxPlainEvent = 64 << 10
)

var long = map[string]bool{
	"Page.frameAttached": true, FrameNavigated: true, "Page.navigatedWithinDocument": true, "Page.frameStartedNavigating": true, "Runtime.consoleAPICalled": true,
	"Runtime.exceptionThrown": true, "Target.attachedToTarget": true, "Target.targetInfoChanged": true,
	"Debugger.paused": true, "Runtime.bindingCalled": true, "Fetch.requestPaused": true,
}

// Source is the session that an event is of, and what tells its bridge's events apart.
type Source struct {
	effect.Identity
	Secret bridge.Secret
}

// Decode turns one event into the fact that it means to a machine, or nil.
func (c Source) Decode(now time.Time, method string, params []byte) any {
	return Event(&c, &Repeated{}, now, method, params)
}

// Event turns an event into the fact it means to a machine, or nil when it
// means nothing. It runs on the link's reader goroutine and keeps nothing of
// params.
//
// encoding/json and not the codec of cdproto: pages send lone surrogates
// (C2), which the strict codec refuses and this one replaces.
func Event(c *Source, same *Repeated, now time.Time, method string, params []byte) any {
	switch method {
	case DialogOpening:
		return decodeOpening(c, now, params)
	case dialogClosed:
		return decodeClosed(c, params)
	}
	growStack(false)
	return decodeOther(c, same, now, method, params)
}

// growStack makes room for what decoding most events needs, before more is on the
// stack of an idle link's reader. Growing it further down costs more, and growing it
// at all was a tenth of a dialog's way, which does without.
//
//go:noinline
func growStack(never bool) {
	if never { // the frame counts, not what is in it
		var frame [4 << 10]byte
		fill(frame[:])
	}
}

//go:noinline
func fill(b []byte) { clear(b) }

// decodeOther is decode for what no page waits for: it needs much of the stack.
func decodeOther(c *Source, same *Repeated, now time.Time, method string, params []byte) any {
	if len(params) > maxPlainEvent && !long[method] {
		return nil // no browser says so much of so little
	}
	switch method {
	case "Page.frameAttached":
		var e struct { // without the stack of the script that did it
			Frame  string `json:"frameId"`
			Parent string `json:"parentFrameId"`
		}
		if json.Unmarshal(params, &e) != nil {
			return nil
		}
		return mail.FrameAttached{
			Gen: c.Gen, Session: c.Session, Page: c.Page,
			Frame: messages.FrameID(clip.Text(e.Frame, clip.MaxID)), Parent: messages.FrameID(clip.Text(e.Parent, clip.MaxID)),
		}
	case FrameNavigated:
		if f, ok := scanNavigated(c, same, params); ok {
			f.Heard = now
			return f
		}
		var e page.EventFrameNavigated
		if json.Unmarshal(params, &e) != nil || e.Frame == nil {
			return nil
		}
		return mail.FrameNavigated{
			Gen: c.Gen, Session: c.Session, Page: c.Page, Frame: frameInfo(e.Frame),
			IsRestored: e.Type == page.NavigationTypeBackForwardCacheRestore, IsPDF: e.Frame.MimeType == pdfType, Heard: now,
		}
	case "Page.navigatedWithinDocument":
		var e page.EventNavigatedWithinDocument
		if json.Unmarshal(params, &e) != nil {
			return nil
		}
		return mail.FrameURLChanged{Gen: c.Gen, Session: c.Session, Frame: messages.FrameID(clip.Text(string(e.FrameID), clip.MaxID)), URL: clip.Text(e.URL, clip.MaxURL)}
	case "Page.frameDetached":
		var e page.EventFrameDetached
		if json.Unmarshal(params, &e) != nil {
			return nil
		}
		return mail.FrameDetached{
			Gen: c.Gen, Session: c.Session, Frame: messages.FrameID(e.FrameID),
			IsSwap: e.Reason == page.FrameDetachedReasonSwap,
		}
	case "Page.frameSubtreeWillBeDetached":
		var e page.EventFrameSubtreeWillBeDetached
		if json.Unmarshal(params, &e) != nil {
			return nil
		}
		return mail.FrameSubtreeWillBeDetached{Gen: c.Gen, Session: c.Session, Frame: messages.FrameID(e.FrameID)}
	case "Page.frameStartedNavigating":
		var e struct {
			Frame  messages.FrameID `json:"frameId"`
			URL    string           `json:"url"`
			Loader string           `json:"loaderId"`
			Type   string           `json:"navigationType"`
		}
		if json.Unmarshal(params, &e) != nil || e.Frame != messages.FrameID(c.Target) || e.Type == "sameDocument" || e.Type == "historySameDocument" {
			return nil
		}
		if e.URL == effect.Nowhere {
			return MovedOn{}
		}
		return Navigating{e.Frame, clip.Text(e.Loader, clip.MaxID)}
	case "Page.lifecycleEvent":
		return decodeLifecycle(params)
	case "Runtime.consoleAPICalled":
		return decodeConsole(c, same, params)
	case "Runtime.exceptionThrown":
		return decodeException(c, params)
	case "Inspector.targetCrashed":
		return Crashed{}
	case "Inspector.targetReloadedAfterCrash":
		return Revived{}
	case bridge.ScriptParsed:
		return c.Secret.DecodeScript(params)
	case "Debugger.paused":
		return c.Secret.DecodePaused(now, params)
	case "Debugger.resumed":
		return bridge.Pause{}
	case fileChooserOpened:
		return decodeChooser(c, params)
	case "Runtime.bindingCalled":
		if b := decodeAsked(c, params); b != nil {
			return b
		}
		return c.Secret.DecodeBinding(now, params)
	case "Fetch.requestPaused":
		if c.Session != "" {
			return nil // an agent's, by the session of its page
		}
		return c.Secret.DecodeRequest(c.Role, c.Gen, params)
	case "Target.attachedToTarget":
		if a, ok := scanAttached(c, params); ok {
			return a
		}
		var e target.EventAttachedToTarget
		if json.Unmarshal(params, &e) != nil || e.TargetInfo == nil {
			return nil
		}
		return mail.TargetAttached{
			Gen: c.Gen, Session: messages.SessionID(clip.Text(string(e.SessionID), clip.MaxID)), Via: c.Session, Info: targetInfo(e.TargetInfo),
			IsWaiting: e.WaitingForDebugger,
		}
	case "Target.detachedFromTarget":
		var e target.EventDetachedFromTarget
		if json.Unmarshal(params, &e) != nil {
			return nil
		}
		return mail.TargetDetached{Gen: c.Gen, Session: messages.SessionID(e.SessionID), Via: c.Session}
	case "Target.targetInfoChanged":
		if t, ok := scanTargetInfo(params); ok {
			return mail.PageInfoChanged{Gen: c.Gen, Info: t}
		}
		var e target.EventTargetInfoChanged
		if json.Unmarshal(params, &e) != nil || e.TargetInfo == nil {
			return nil
		}
		return mail.PageInfoChanged{Gen: c.Gen, Info: targetInfo(e.TargetInfo)}
	case "Target.targetDestroyed":
		var e target.EventTargetDestroyed
		if json.Unmarshal(params, &e) != nil {
			return nil
		}
		return TargetDestroyed{messages.TargetID(e.TargetID)}
	}
	return nil
}

// decodeLifecycle passes only the moments that a navigation can wait for;
// Chrome sends a dozen others per document.
func decodeLifecycle(params []byte) any {
	if l, ok := scanLifecycle(params); ok {
		if _, ok := Moments[l.Name]; !ok {
			return nil
		}
		return l
	}
	var e struct {
		FrameID  messages.FrameID `json:"frameId"`
		LoaderID string           `json:"loaderId"`
		Name     string           `json:"name"`
	}
	if json.Unmarshal(params, &e) != nil {
		return nil
	}
	if _, ok := Moments[e.Name]; !ok {
		return nil
	}
	return Lifecycle{Frame: e.FrameID, Loader: e.LoaderID, Name: e.Name}
}

// FrameTree reads the result of Page.getFrameTree, parents before their children.
func FrameTree(c *Source, result []byte) ([]mail.FrameInfo, error) {
	if frames, ok := scanFrameTree(c, result); ok {
		return frames, nil
	}
	var r struct {
		FrameTree *page.FrameTree `json:"frameTree"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	var frames []mail.FrameInfo
	var walk func(t *page.FrameTree)
	walk = func(t *page.FrameTree) {
		if t == nil || t.Frame == nil {
			return
		}
		frames = append(frames, frameInfo(t.Frame))
		for _, child := range t.ChildFrames {
			walk(child)
		}
	}
	walk(r.FrameTree)
	return frames, nil
}

// TargetInfo reads the result of Target.getTargetInfo.
func TargetInfo(result []byte) (mail.TargetInfo, error) {
	if t, ok := scanTargetInfo(result); ok {
		return t, nil
	}
	var r struct {
		TargetInfo target.Info `json:"targetInfo"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return mail.TargetInfo{}, err
	}
	return targetInfo(&r.TargetInfo), nil
}

func frameInfo(f *cdp.Frame) mail.FrameInfo {
	return mail.FrameInfo{
		ID: messages.FrameID(clip.Text(string(f.ID), clip.MaxID)), Parent: messages.FrameID(clip.Text(string(f.ParentID), clip.MaxID)), Loader: clip.Text(string(f.LoaderID), clip.MaxID),
		URL: clip.Text(f.URL+f.URLFragment, clip.MaxURL), Origin: origin(f.SecurityOrigin),
	}
}

// origin is the document's security origin. Chrome writes opaque ones as
// "://"; a browser would say "null".
func origin(said string) string {
	if said == "" || said == "://" {
		return "null"
	}
	return clip.Text(said, clip.MaxURL)
}

func targetInfo(t *target.Info) mail.TargetInfo {
	return mail.TargetInfo{
		ID: messages.TargetID(clip.Text(string(t.TargetID), clip.MaxID)), Type: clip.Text(t.Type, clip.MaxID), URL: clip.Text(t.URL, clip.MaxURL), Title: clip.Text(t.Title, 300),
		Opener: messages.TargetID(clip.Text(string(t.OpenerID), clip.MaxID)), ParentFrame: messages.FrameID(clip.Text(string(t.ParentFrameID), clip.MaxID)),
		CanAccessOpener: t.CanAccessOpener, Context: clip.Text(string(t.BrowserContextID), clip.MaxID),
	}
}

// Moment is a set of things that have happened to a document.
type Moment uint8

const (
	Committed Moment = 1 << iota
	ContentLoaded
	Loaded
	NetworkAlmostIdle
	NetworkIdle
)

// Moments are the lifecycle events that a navigation can wait for, by Chrome's names.
var Moments = map[string]Moment{
	"DOMContentLoaded":  ContentLoaded,
	"load":              Loaded,
	"networkAlmostIdle": NetworkAlmostIdle,
	"networkIdle":       NetworkIdle,
}

// IsFrequent says whether pages can cause an event by the thousand. To decode it takes
// as long as to take it off the link, so the actor does that.
func IsFrequent(method string, params []byte) bool {
	return method == FrameNavigated || method == ConsoleCalled && isConsoleError(params)
}

// Frequent decodes a frequent event that has not been scanned: a quick reader goes to its
// end, and finds that it is one. Nil leaves it to the full decoder.
func Frequent(c *Source, same *Repeated, method string, params []byte) any {
	switch method {
	case ConsoleCalled:
		if r, ok := ScanConsole(c, same, params); ok {
			return r
		}
	case FrameNavigated:
		if f, ok := scanNavigated(c, same, params); ok {
			return f
		}
	}
	return nil
}

// Unread is decode for a frequent event that has not been scanned.
func Unread(c *Source, same *Repeated, method string, params []byte) any {
	if fact := Frequent(c, same, method, params); fact != nil {
		return fact
	}
	// It is not as Chrome writes it.
	return Event(c, same, time.Time{}, method, transport.Whole(transport.Event{Method: method, Params: params}))
}
