package memory

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"holdfast/actors/session/wanted"
	"holdfast/messages"
)

// Bounds of one session's memory. What goes beyond them is not there again after a drop.
const (
	maxKept   = 256
	maxBytes  = 4 << 20
	maxFrames = 4096
	maxWorlds = 32
)

// Session is what a client has set in one of its sessions, as a state machine. It is not
// safe for concurrent use.
type Session struct {
	place wanted.Place
	state wanted.State
	kept  []item // what state does not keep, as it was sent
	bytes int    // of kept

	domains map[string]bool // that are enabled
	epoch   int             // how many links the session has lost
	frames  frames
	worlds  []string // isolated worlds that the client has in every frame
	said    said
	load    load

	isRestored bool // for a while: documents that were being loaded then may still come
	isPaused   bool // the client was told that its debugger has stopped the page
}

// item is one setting of a session.
type item struct {
	key      string
	method   string
	params   []byte
	isDomain bool
}

// Event is something that the client is told on the session.
type Event struct {
	Method string
	Params []byte
}

// Command is something that a new session is given.
type Command struct {
	Method string
	Params []byte

	id    uint64 // of wanted
	kind  kind
	world string // of kindWorld
	isTop bool   // the world is that of the page's document
}

type kind uint8

const (
	kindSetting kind = iota
	kindWanted
	kindTree
	kindProbe
	kindWorld
)

// IsAutoAttach says whether the reply to the command comes behind the attach to everything
// that there was below the session.
func (c Command) IsAutoAttach() bool { return c.Method == "Target.setAutoAttach" }

// IsTree says whether the outcome of the command shows the page's frames.
func (c Command) IsTree() bool { return c.kind == kindTree }

// NewSession returns the memory of a session of the browser's that the client has just got.
func NewSession(link messages.SessionID) *Session {
	return &Session{place: placeOf(link), domains: map[string]bool{}, frames: frames{known: map[messages.FrameID]frame{}}}
}

// placeOf is where wanted keeps the session's settings: it has this place alone.
func placeOf(link messages.SessionID) wanted.Place {
	return wanted.Place{Page: "session", Target: "session", Session: link}
}

// Epoch is how many links the session has lost: ids of objects carry it (see [Mark]).
func (s *Session) Epoch() int { return s.epoch }

// HasAutoAttach says whether the browser attaches by itself to what is below the session.
func (s *Session) HasAutoAttach() bool { return s.isSet("Target.autoAttach") }

func (s *Session) isSet(key string) bool {
	return slices.ContainsFunc(s.kept, func(i item) bool { return i.key == key })
}

// Prepare says with which parameters a command that is kept is to be sent. An answer that is
// not nil is its result, and nothing is to be sent.
func (s *Session) Prepare(method string, params []byte) (send, answer []byte, err error) {
	return s.state.Prepare(s.place, method, params)
}

// Succeeded takes the reply to a command that is kept, with the parameters that the client
// gave, and returns the result for the client.
func (s *Session) Succeeded(method string, params, result []byte) []byte {
	domain, name, _ := strings.Cut(method, ".")
	switch {
	case method == methodTree:
		s.frames.learn(result)
		return result
	case method == methodWorld:
		s.noteWorld(params)
		return result
	case name == "enable":
		s.domains[domain] = true
	case name == "disable":
		s.disabled(domain)
	}
	if method == "Page.addScriptToEvaluateOnNewDocument" {
		s.noteWorld(params)
	}
	if wanted.IsKept(method) {
		result, _ = s.state.Succeeded(s.place, method, params, result)
		return result
	}
	switch key := settings[method]; {
	case key != "" && isOff(method, params):
		s.drop(func(i item) bool { return i.key == key })
	case key != "":
		s.keep(item{key: key + variant(method, params, result), method: method, params: slices.Clone(params)})
	case takenBack[method] != "":
		key := takenBack[method] + variant(method, params, params)
		s.drop(func(i item) bool { return i.key == key })
	case name == "enable":
		s.keep(item{key: domain, method: method, params: slices.Clone(params), isDomain: true})
	}
	return result
}

// isOff says whether a setting takes itself back.
func isOff(method string, params []byte) bool {
	var p struct {
		Enabled    *bool `json:"enabled"`
		AutoAttach *bool `json:"autoAttach"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	return method == lifecycleMethod && p.Enabled != nil && !*p.Enabled || p.AutoAttach != nil && !*p.AutoAttach
}

// variant tells apart several settings of one kind. A breakpoint has the same id on each session
// that sets it: its place and its script make it. Named is what has that id.
func variant(method string, params, named []byte) string {
	switch {
	case strings.HasPrefix(method, "DOMDebugger."), strings.HasPrefix(method, "EventBreakpoints."):
		return string(params)
	case settings[method] == "Debugger.breakpoint", takenBack[method] == "Debugger.breakpoint":
		var b struct {
			ID string `json:"breakpointId"`
		}
		if json.Unmarshal(named, &b) == nil {
			return " " + b.ID
		}
	}
	return ""
}

func (s *Session) disabled(domain string) {
	delete(s.domains, domain)
	s.drop(func(i item) bool {
		return i.key == domain || strings.HasPrefix(i.key, domain+".") && domain != "Target"
	})
	switch domain {
	case "Page":
		s.state.DropScripts(s.place)
		s.worlds = nil
		s.frames.clear()
	case "Debugger":
		s.isPaused = false
	}
}

// keep notes a setting in the place of the one before it, if there is room.
func (s *Session) keep(i item) {
	s.drop(func(x item) bool { return x.key == i.key })
	if size := len(i.key) + len(i.method) + len(i.params); len(s.kept) < maxKept && s.bytes+size <= maxBytes {
		s.kept = append(s.kept, i)
		s.bytes += size
	}
}

func (s *Session) drop(which func(item) bool) {
	s.kept = slices.DeleteFunc(s.kept, func(i item) bool {
		if !which(i) {
			return false
		}
		s.bytes -= len(i.key) + len(i.method) + len(i.params)
		return true
	})
}

func (s *Session) noteWorld(params []byte) {
	var p struct {
		World string `json:"worldName"`
	}
	if json.Unmarshal(params, &p) == nil && p.World != "" && !slices.Contains(s.worlds, p.World) && len(s.worlds) < maxWorlds {
		s.worlds = append(s.worlds, p.World)
	}
}

// Cut ends the session on its link. It returns what the client is told at once: what has
// died with it.
func (s *Session) Cut() (told []Event) {
	s.epoch++
	s.state.End(s.place)
	s.load.isProbing = false
	s.said.cut()
	if s.isPaused {
		s.isPaused = false
		told = append(told, Event{"Debugger.resumed", []byte(`{}`)})
	}
	if s.domains["Runtime"] {
		told = append(told, Event{"Runtime.executionContextsCleared", []byte(`{}`)})
	}
	if s.domains["DOM"] {
		told = append(told, Event{"DOM.documentUpdated", []byte(`{}`)})
	}
	return told
}

// Begin returns what the browser's next session is to be given, in order, and expects the
// outcome of each by [Session.Established]. The client's own commands follow behind it.
func (s *Session) Begin(link messages.SessionID) (list []Command) {
	s.place, s.isRestored = placeOf(link), true
	setting := func(i item) { list = append(list, Command{Method: i.method, Params: i.params}) }
	isFirst := func(i item) bool { return i.isDomain && (i.key == "Page" || i.key == "Inspector") }
	for _, i := range s.kept {
		if isFirst(i) {
			setting(i)
		}
	}
	if s.domains["Page"] {
		if s.isSet("Page.lifecycle") { // of a document that comes behind the tree the client is told all
			list = append(list, Command{Method: lifecycleMethod, Params: []byte(`{"enabled":true}`)})
		}
		list = append(list, Command{Method: methodTree, kind: kindTree})
	}
	for _, i := range s.kept {
		if i.isDomain && !isFirst(i) {
			setting(i)
		}
	}
	s.said.begin(s.domains)
	for _, c := range s.state.Begin(s.place) {
		list = append(list, Command{Method: c.Method, Params: c.Params, id: c.ID, kind: kindWanted})
	}
	if s.domains["Page"] {
		s.load.isProbing = true
		list = append(list, Command{Method: lifecycleMethod, Params: []byte(`{"enabled":true}`), kind: kindProbe})
		if !s.isSet("Page.lifecycle") {
			list = append(list, Command{Method: lifecycleMethod, Params: []byte(`{"enabled":false}`)})
		}
	}
	for _, last := range []bool{false, true} {
		for _, i := range s.kept {
			if !i.isDomain && i.key != "Page.lifecycle" && (i.key == "Target.autoAttach") == last {
				setting(i)
			}
		}
	}
	// What a lost session held is resumed with it, and one that is frozen is not (C33).
	return append(list, Command{Method: "Runtime.runIfWaitingForDebugger"})
}

// Again returns what is to be given once more, a while after Begin: what the late end of the
// lost session takes back, and what was refused until then (C61).
func (s *Session) Again() (list []Command) {
	if s.isRestored {
		s.isRestored, list = false, s.intercept()
	}
	for _, c := range s.state.Again(s.place) {
		list = append(list, Command{Method: c.Method, Params: c.Params, id: c.ID, kind: kindWanted})
	}
	return list
}

// ErrCrashed is the outcome of a command that waited in a renderer that has crashed. The browser
// gives it once another renderer is there, which has not had the command (C22).
var ErrCrashed = errors.New("the renderer has crashed")

// Established takes the outcome of a command that Begin or Again returned. It returns what
// the client has missed and what else the session is to be given. IsTarget says whether a
// frame is a target of its own by now.
func (s *Session) Established(c Command, result []byte, err error, isTarget func(messages.FrameID) bool) (told []Event, more []Command) {
	switch {
	case errors.Is(err, ErrCrashed):
		return nil, []Command{c}
	case c.kind == kindWanted:
		s.state.Established(s.place, c.id, result, err)
		for _, b := range s.state.Behind(s.place) {
			more = append(more, Command{Method: b.Method, Params: b.Params, id: b.ID, kind: kindWanted})
		}
	case c.kind == kindProbe:
		s.load.isProbing = false
	case c.kind == kindWorld && c.isTop && err == nil:
		var made struct {
			Context int64 `json:"executionContextId"`
		}
		if json.Unmarshal(result, &made) == nil {
			more = s.late(c.world, made.Context)
		}
	case c.kind == kindTree && err == nil:
		return s.missed(result, isTarget)
	}
	s.said.established(c.Method)
	return nil, more
}
