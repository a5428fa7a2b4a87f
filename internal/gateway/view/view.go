package view

import (
	"encoding/json"
	"maps"
	"slices"

	"holdfast/internal/rawcdp"
	"holdfast/messages"
)

// Config says whose view it is.
type Config struct {
	Caller rawcdp.Caller
	// HasAll says that every target of the browser is the task's.
	HasAll bool
	// DefaultContext is the browser context of pages for which no context is named.
	DefaultContext string
	Dialogs        Dialogs
}

// Dialogs says who answers the dialogs of a client's pages.
type Dialogs string

// The modes.
const (
	DialogsHoldfast Dialogs = "holdfast" // hidden from the client
	DialogsClient   Dialogs = "client"   // shown to it, and its answers count
	DialogsObserve  Dialogs = "observe"  // shown to it, and its answers are refused
)

// MaxSessions and MaxContexts bound what a client has at a time.
const (
	MaxSessions = 4096
	MaxContexts = 256
)

// View is what one client sees, as a state machine.
type View struct {
	cfg      Config
	targets  map[messages.TargetID]*Target
	order    []messages.TargetID // of targets, as they were seen
	sessions map[messages.SessionID]*attached
	windows  map[int64]bool // that hold a page of the task
	contexts map[string]bool
	mine     map[string]bool // of those: to be disposed of with the client

	discover map[messages.SessionID]*discovery
	auto     *autoAttach // nil while the client has asked for none
	// autos are those of the client's further browser sessions.
	autos map[messages.SessionID]*autoAttach
	calls map[Tag]*call
	seq   Tag
	out   []Effect
}

// kindBrowser is the type of the browser's own target.
const kindBrowser = "browser"

// attached is a session of the client.
type attached struct {
	target messages.TargetID // "" is the browser
	kind   string            // of the target
	parent messages.SessionID
	isAuto bool // by the emulated auto-attach
}

// discovery is one session's setDiscoverTargets.
type discovery struct {
	filter filter
	told   map[messages.TargetID]bool
}

// autoAttach is the client's setAutoAttach on the browser.
type autoAttach struct {
	filter  filter
	isHeld  bool                       // waitForDebuggerOnStart
	pending map[messages.TargetID]bool // being attached to
	reply   *Reply                     // of setAutoAttach, once nothing of what there was is pending
	awaited map[messages.TargetID]bool // what reply waits for
	opened  map[messages.TargetID]Reply
}

// call is something whose outcome is awaited.
type call struct {
	kind    kind
	id      int64
	session messages.SessionID
	target  messages.TargetID
	context string
	isOwn   bool // the context ends with the client
}

type kind uint8

const (
	kindAttach kind = iota // by the emulated auto-attach
	kindDetach
	kindOpen
	kindClose
	kindPageClose
	kindContext
	kindDispose
	kindWindow
	kindDialog
	kindOnBrowser // a page's command that the browser's session runs
)

// New returns the view of a client that has sent nothing yet.
func New(cfg Config) *View {
	return &View{
		cfg: cfg, targets: map[messages.TargetID]*Target{}, sessions: map[messages.SessionID]*attached{}, windows: map[int64]bool{},
		contexts: map[string]bool{}, mine: map[string]bool{}, discover: map[messages.SessionID]*discovery{}, autos: map[messages.SessionID]*autoAttach{}, calls: map[Tag]*call{},
	}
}

type (
	// Command is a command of the client that the view has to decide over. Session is ""
	// for the browser's own.
	Command struct {
		ID      int64
		Session messages.SessionID
		Method  string
		Params  []byte
	}

	// Seen says that a target of the task is there, or is described anew.
	Seen struct{ Target Target }

	// Lost says that a target is the task's no longer, or is gone.
	Lost struct{ Target messages.TargetID }

	// Attached is the browser's Target.attachedToTarget on a session of the client.
	Attached struct {
		Parent  messages.SessionID
		Session messages.SessionID
		Target  Target
		Params  []byte
		IsHeld  bool // the page waits for the client to resume it
	}

	// Detached is the browser's Target.detachedFromTarget.
	Detached struct {
		Parent  messages.SessionID
		Session messages.SessionID
		Params  []byte
	}

	// Outcome is that of a [Call], an [Open], a [Close], a [Dispose] or an [AnswerDialog].
	Outcome struct {
		Tag    Tag
		Result []byte
		Target messages.TargetID // of an Open
		Err    *Error
	}

	// Relinked says that the client's browser session is there again, on a new link.
	Relinked struct{}

	// BrowserGone says that nothing that the client knows is there any more.
	BrowserGone struct{}

	// ContextKnown says that a browser context of the task's clients exists, or not any more.
	ContextKnown struct {
		ID     string
		IsGone bool
	}
)

// Step takes one input and returns what is to be done, in order.
func (v *View) Step(in any) []Effect {
	switch in := in.(type) {
	case Command:
		v.command(in)
	case Seen:
		v.seen(in.Target)
	case Lost:
		v.lost(in.Target)
	case Attached:
		v.attachedTo(in)
	case Detached:
		v.detachedFrom(in)
	case Outcome:
		v.outcome(in)
	case Relinked:
		v.relinked()
	case BrowserGone:
		v.browserGone()
	case ContextKnown:
		if delete(v.contexts, in.ID); !in.IsGone && len(v.contexts) < MaxContexts {
			v.contexts[in.ID] = true
		}
	}
	out := v.out
	v.out = nil
	return out
}

// Mine returns the browser contexts that end with the client, in order.
func (v *View) Mine() []string { return slices.Sorted(maps.Keys(v.mine)) }

// Sessions is how many sessions the client has.
func (v *View) Sessions() int { return len(v.sessions) }

func (v *View) do(e Effect) { v.out = append(v.out, e) }

func (v *View) call(c call) Tag {
	v.seq++
	v.calls[v.seq] = &c
	return v.seq
}

func (v *View) reply(c Command, result []byte) {
	v.do(Reply{ID: c.ID, Session: c.Session, Result: result})
}

func (v *View) refuse(c Command, err *Error) { v.do(Reply{ID: c.ID, Session: c.Session, Err: err}) }

func (v *View) forward(c Command) { v.do(Forward(c)) }

// isBrowser says whether a session is the browser's own, or another one like it.
func (v *View) isBrowser(id messages.SessionID) bool {
	s := v.sessions[id]
	return id == "" || s != nil && s.kind == kindBrowser
}

// isOwn says whether a target is the task's, as far as this client knows: one that the
// browser has attached it to is, though the browser lists no workers.
func (v *View) isOwn(t messages.TargetID) bool {
	if v.targets[t] != nil {
		return true
	}
	for _, s := range v.sessions {
		if s.target == t {
			return true
		}
	}
	return false
}

func (v *View) outcome(o Outcome) {
	c := v.calls[o.Tag]
	if c == nil {
		return
	}
	delete(v.calls, o.Tag)
	reply := Reply{ID: c.id, Session: c.session, Result: o.Result, Err: o.Err}
	switch c.kind {
	case kindAttach:
		if o.Err != nil { // it closed meanwhile
			v.settle(c.session, c.target)
		}
		return
	case kindDetach:
		return
	case kindOpen:
		v.opened(reply, o)
		return
	case kindClose:
		if o.Err == nil {
			reply.Result = []byte(`{"success":true}`)
		}
	case kindPageClose, kindDialog:
		if o.Err == nil {
			reply.Result = []byte(`{}`)
		}
	case kindDispose:
		if o.Err == nil {
			reply.Result = []byte(`{}`)
			delete(v.contexts, c.context)
			delete(v.mine, c.context)
		}
	case kindContext:
		v.contextMade(c, o)
	case kindWindow:
		var w struct {
			ID *int64 `json:"windowId"`
		}
		if o.Err == nil && json.Unmarshal(o.Result, &w) == nil && w.ID != nil && len(v.windows) < MaxSessions {
			v.windows[*w.ID] = true
		}
	}
	v.do(reply)
}

func (v *View) contextMade(c *call, o Outcome) {
	var made struct {
		ID string `json:"browserContextId"`
	}
	if o.Err != nil || json.Unmarshal(o.Result, &made) != nil || made.ID == "" {
		return
	}
	v.contexts[made.ID] = true
	if c.isOwn {
		v.mine[made.ID] = true
	}
	v.do(ContextMade{made.ID})
}
