package memory

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"holdfast/internal/scan"
	"holdfast/messages"
)

const lifecycleMethod = "Page.setLifecycleEventsEnabled"

// frame is what the client knows of one frame of the session's page.
type frame struct {
	parent messages.FrameID
	loader string
	url    string
}

// frames are those that the client was told of.
type frames struct {
	known map[messages.FrameID]frame
	top   messages.FrameID
	// isWhole says that the client has read the tree: every frame is known.
	isWhole bool
}

// load is how far the page's document is.
type load struct {
	isUnderWay bool // the client was told of the document, and not that it has loaded
	isProbing  bool // the new session tells how far it is
}

// tree is Page.getFrameTree's.
type tree struct {
	Frame    json.RawMessage `json:"frame"`
	Children []tree          `json:"childFrames"`
}

// frameInfo is the part of a Page.Frame that is read.
type frameInfo struct {
	ID       messages.FrameID `json:"id"`
	Parent   messages.FrameID `json:"parentId"`
	Loader   string           `json:"loaderId"`
	URL      string           `json:"url"`
	Fragment string           `json:"urlFragment"`
}

func (f *frames) clear() { *f = frames{known: map[messages.FrameID]frame{}} }

// note notes a frame's document.
func (f *frames) note(raw []byte) {
	var info frameInfo
	if json.Unmarshal(raw, &info) == nil {
		f.hasPut(info)
	}
}

// hasPut notes a frame's document, and says whether there is room for it.
func (f *frames) hasPut(info frameInfo) bool {
	if info.ID == "" {
		return false
	}
	if _, known := f.known[info.ID]; !known && len(f.known) >= maxFrames {
		return false
	}
	f.known[info.ID] = frame{parent: info.Parent, loader: info.Loader, url: info.URL + info.Fragment}
	if info.Parent == "" || f.top == "" {
		f.top = info.ID
	}
	return true
}

// learn takes the tree that the client reads.
func (f *frames) learn(result []byte) {
	var r struct {
		Tree tree `json:"frameTree"`
	}
	if json.Unmarshal(result, &r) != nil {
		return
	}
	f.clear()
	f.isWhole = true
	r.Tree.walk(func(raw []byte) { f.note(raw) })
}

func (t tree) walk(visit func(raw []byte)) {
	visit(t.Frame)
	for _, c := range t.Children {
		c.walk(visit)
	}
}

// IsHeard says whether [Session.Heard] has to see an event.
func IsHeard(method []byte) bool {
	switch string(method) {
	case "Page.frameAttached", "Page.frameNavigated", "Page.frameDetached", "Page.navigatedWithinDocument",
		"Page.loadEventFired", "Page.lifecycleEvent", "Debugger.paused", "Debugger.resumed",
		"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		return true
	}
	return false
}

// Heard takes an event of the session, the whole message, and says whether it is for the
// client. What told has comes behind it; more is to be given.
func (s *Session) Heard(method string, msg []byte) (isForClient bool, told []Event, more []Command) {
	isForClient, told = s.heard(method, msg)
	if method == "Page.frameNavigated" && s.isRestored {
		more = s.intercept()
	}
	return isForClient, told, more
}

// intercept returns what has the session's requests intercepted in the document that is
// there: one that was being loaded when the session was given its interception has none.
func (s *Session) intercept() (list []Command) {
	for _, i := range s.kept {
		if i.key == "Fetch" {
			list = append(list, Command{Method: i.method, Params: i.params})
		}
	}
	return list
}

func (s *Session) heard(method string, msg []byte) (isForClient bool, told []Event) {
	if domain := domainOfSaid(method); domain != "" {
		return s.said.isNew(domain, msg), nil
	}
	switch method {
	case "Debugger.paused", "Debugger.resumed":
		s.isPaused = method == "Debugger.paused"
		return true, nil
	case "Page.loadEventFired":
		s.load.isUnderWay = false
		return true, nil
	}
	var p struct {
		Frame  frameInfo        `json:"frame"`
		ID     messages.FrameID `json:"frameId"`
		Parent messages.FrameID `json:"parentFrameId"`
		Name   string           `json:"name"`
		URL    string           `json:"url"`
		Stamp  json.RawMessage  `json:"timestamp"`
	}
	if method == "Page.lifecycleEvent" && !s.load.isProbing {
		return s.epoch == 0 || s.isSet("Page.lifecycle"), nil
	}
	if json.Unmarshal(paramsOf(msg), &p) != nil {
		return true, nil
	}
	switch method {
	case "Page.frameAttached":
		if len(s.frames.known) < maxFrames {
			s.frames.known[p.ID] = frame{parent: p.Parent}
		}
	case "Page.frameNavigated":
		if s.frames.hasPut(p.Frame) && p.Frame.ID == s.frames.top {
			s.load.isUnderWay = true
		}
	case "Page.frameDetached":
		delete(s.frames.known, p.ID)
	case "Page.navigatedWithinDocument":
		if f, ok := s.frames.known[p.ID]; ok {
			f.url = p.URL
			s.frames.known[p.ID] = f
		}
	case "Page.lifecycleEvent":
		if p.Name == "load" && p.ID == s.frames.top && s.load.isUnderWay {
			s.load.isUnderWay = false
			stamp := mustJSON(map[string]json.RawMessage{"timestamp": p.Stamp})
			told = []Event{{"Page.domContentEventFired", stamp}, {"Page.loadEventFired", stamp}, {"Page.frameStoppedLoading", mustJSON(map[string]any{"frameId": p.ID})}}
		}
		return s.isSet("Page.lifecycle"), told
	}
	return true, nil
}

func paramsOf(msg []byte) []byte {
	m := scan.Members{JSON: msg}
	for m.Next() {
		if string(m.Key) == "params" {
			return m.Value
		}
	}
	return nil
}

// missed compares the page's frames with those that the client knows. It returns what Chrome
// would have told the client in between, and the client's isolated worlds for documents that
// it has not seen.
func (s *Session) missed(result []byte, isTarget func(messages.FrameID) bool) (told []Event, more []Command) {
	var r struct {
		Tree tree `json:"frameTree"`
	}
	if json.Unmarshal(result, &r) != nil {
		return nil, nil
	}
	before := s.frames
	s.frames.clear()
	s.frames.isWhole = before.isWhole
	r.Tree.walk(func(raw []byte) { s.frames.note(raw) })
	for _, id := range before.gone(s.frames.known) {
		reason := "remove"
		if isTarget(id) {
			reason = "swap"
		}
		told = append(told, Event{"Page.frameDetached", mustJSON(map[string]any{"frameId": id, "reason": reason})})
	}
	r.Tree.walk(func(raw []byte) {
		var info frameInfo
		if json.Unmarshal(raw, &info) != nil || info.ID == "" {
			return
		}
		old, known := before.known[info.ID]
		switch {
		case !known && !before.isWhole: // the client has not asked for frames
			return
		case known && old.loader == info.Loader:
			if url := info.URL + info.Fragment; old.url != "" && old.url != url {
				told = append(told, Event{"Page.navigatedWithinDocument", mustJSON(map[string]any{"frameId": info.ID, "url": url, "navigationType": "other"})})
			}
			return
		case !known && info.ID != s.frames.top:
			told = append(told, Event{"Page.frameAttached", mustJSON(map[string]any{"frameId": info.ID, "parentFrameId": info.Parent})})
		}
		told = append(told, Event{"Page.frameNavigated", mustJSON(map[string]any{"frame": json.RawMessage(raw), "type": "Navigation"})})
		if s.isSet("Page.lifecycle") {
			told = append(told, Event{"Page.lifecycleEvent", mustJSON(map[string]any{"frameId": info.ID, "loaderId": info.Loader, "name": "init", "timestamp": 0})})
		}
		if info.ID == s.frames.top {
			s.load.isUnderWay = true
			more = append(append(more, s.intercept()...), s.late("", 0)...)
		}
		for _, w := range s.worlds {
			more = append(more, Command{
				Method: methodWorld, Params: mustJSON(map[string]any{"frameId": info.ID, "worldName": w, "grantUniveralAccess": true}),
				kind: kindWorld, world: w, isTop: info.ID == s.frames.top,
			})
		}
	})
	return told, more
}

// late returns the client's scripts for new documents as commands that run them in the
// document that is there: the client has not seen it, so no session of its own was there to
// run them. Context is that of an isolated world.
func (s *Session) late(world string, context int64) (list []Command) {
	for _, params := range s.state.Scripts(s.place) {
		var p struct {
			Source string `json:"source"`
			World  string `json:"worldName"`
		}
		if json.Unmarshal(params, &p) != nil || p.World != world || p.Source == "" {
			continue
		}
		evaluate := map[string]any{"expression": p.Source, "silent": true}
		if world != "" {
			evaluate["contextId"] = context
		}
		list = append(list, Command{Method: "Runtime.evaluate", Params: mustJSON(evaluate)})
	}
	return list
}

// gone are the frames that are not there any more, the deepest first.
func (f frames) gone(now map[messages.FrameID]frame) []messages.FrameID {
	var list []messages.FrameID
	for _, id := range slices.Sorted(maps.Keys(f.known)) {
		if _, is := now[id]; !is && id != f.top {
			list = append(list, id)
		}
	}
	slices.SortStableFunc(list, func(a, b messages.FrameID) int { return cmp.Compare(f.depth(b), f.depth(a)) })
	return list
}

func (f frames) depth(id messages.FrameID) (n int) {
	for p := f.known[id].parent; p != "" && n < maxFrames; p = f.known[p].parent {
		n++
	}
	return n
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("memory: " + err.Error()) // only strings and JSON that was read are ever passed
	}
	return b
}
