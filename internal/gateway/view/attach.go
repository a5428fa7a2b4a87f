package view

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"holdfast/messages"
)

// seen notes a target of the task.
func (v *View) seen(t Target) {
	known := v.targets[t.ID]
	v.targets[t.ID] = &t
	if known == nil {
		v.order = append(v.order, t.ID)
	}
	for _, s := range v.discovering() {
		v.tell(s, &t)
	}
	if known == nil {
		v.attach(&t)
	}
}

// discovering are the sessions that discover, in order.
func (v *View) discovering() []messages.SessionID {
	return slices.Sorted(maps.Keys(v.discover))
}

// tell tells one discovering session of a target that is new or has changed.
func (v *View) tell(s messages.SessionID, t *Target) {
	d := v.discover[s]
	if !d.filter.hasMatch(t) {
		return
	}
	method := "Target.targetInfoChanged"
	if !d.told[t.ID] {
		d.told[t.ID] = true
		method = "Target.targetCreated"
	}
	v.do(Event{Session: s, Method: method, Params: member("targetInfo", v.info(t))})
}

// lost forgets a target. The browser ends its sessions by itself, and says so.
func (v *View) lost(id messages.TargetID) {
	if v.targets[id] == nil {
		return
	}
	delete(v.targets, id)
	v.order = slices.DeleteFunc(v.order, func(t messages.TargetID) bool { return t == id })
	for _, s := range v.discovering() {
		if d := v.discover[s]; d.told[id] {
			delete(d.told, id)
			v.do(Event{Session: s, Method: "Target.targetDestroyed", Params: object("targetId", string(id))})
		}
	}
	for _, s := range v.attaching() {
		v.settle(s, id)
	}
}

// attaching are the browser sessions that attach to targets by themselves, in order.
func (v *View) attaching() []messages.SessionID {
	list := slices.Sorted(maps.Keys(v.autos))
	if v.auto != nil {
		list = slices.Insert(list, 0, "")
	}
	return list
}

// autoOf is what a browser session attaches to by itself, nil where that is nothing.
func (v *View) autoOf(session messages.SessionID) *autoAttach {
	if session == "" {
		return v.auto
	}
	return v.autos[session]
}

// setAuto changes that.
func (v *View) setAuto(session messages.SessionID, a *autoAttach) {
	switch {
	case session == "":
		v.auto = a
	case a == nil:
		delete(v.autos, session)
	default:
		v.autos[session] = a
	}
}

// attach attaches to a target that the client's auto-attach takes, on every browser session.
func (v *View) attach(t *Target) {
	for _, s := range v.attaching() {
		v.attachOn(s, t)
	}
}

func (v *View) attachOn(session messages.SessionID, t *Target) {
	a := v.autoOf(session)
	if nested[t.Type] || !a.filter.hasMatch(t) || a.pending[t.ID] || v.isAttached(session, t.ID) || len(v.sessions) >= MaxSessions {
		return
	}
	a.pending[t.ID] = true
	tag := v.call(call{kind: kindAttach, session: session, target: t.ID})
	v.do(Call{Tag: tag, Session: session, Method: "Target.attachToTarget", Params: attachParams(t.ID)})
}

func attachParams(t messages.TargetID) []byte {
	p, _ := json.Marshal(struct {
		TargetID messages.TargetID `json:"targetId"`
		Flatten  bool              `json:"flatten"`
	}{t, true}) // always encodes
	return p
}

// isAttached says whether the emulated auto-attach of a browser session has one on the target.
func (v *View) isAttached(session messages.SessionID, t messages.TargetID) bool {
	for _, s := range v.sessions {
		if s.isAuto && s.parent == session && s.target == t {
			return true
		}
	}
	return false
}

// attachedTo tells the client of a session that it has from now on.
func (v *View) attachedTo(a Attached) {
	s := &attached{target: a.Target.ID, kind: a.Target.Type, parent: a.Parent}
	auto := v.autoOf(a.Parent)
	switch {
	case s.kind == kindBrowser:
		s.target = "" // its id is the browser's secret
		a.Params = browserParams(a.Session)
	case auto != nil && auto.pending[a.Target.ID]:
		s.isAuto = true
		if a.IsHeld {
			// The attach is the gateway's own command, of which Chrome never says so. No text has these
			// bytes: it would escape the quotes.
			a.Params = bytes.Replace(a.Params, []byte(`"waitingForDebugger":false`), []byte(`"waitingForDebugger":true`), 1)
		}
	}
	v.sessions[a.Session] = s
	v.do(Began{Session: a.Session, Parent: a.Parent, Target: s.target, IsBrowser: s.kind == kindBrowser, IsWorker: isWorker(s.kind), IsAuto: s.isAuto})
	v.do(Event{Session: a.Parent, Method: "Target.attachedToTarget", Params: a.Params})
	if s.isAuto {
		v.settle(a.Parent, a.Target.ID)
	}
}

// browserParams are those of Target.attachedToTarget of a further browser session.
func browserParams(id messages.SessionID) []byte {
	p, _ := json.Marshal(map[string]any{"sessionId": id, "waitingForDebugger": false, "targetInfo": map[string]any{
		"targetId": id, "type": kindBrowser, "title": "", "url": "", "attached": true, "canAccessOpener": false,
	}}) // always encodes
	return p
}

// detachedFrom tells the client of the end of a session, and with it of those below.
func (v *View) detachedFrom(d Detached) {
	s := v.sessions[d.Session]
	if s == nil {
		return
	}
	if s.kind == kindBrowser {
		d.Params, _ = json.Marshal(map[string]any{"sessionId": d.Session, "targetId": d.Session}) // always encodes
	}
	v.closed(d.Session, s.target)
	v.forget(d.Session)
	v.do(Event{Session: d.Parent, Method: "Target.detachedFromTarget", Params: d.Params})
}

// closed replies to a Page.close of a session that ends: Chrome has replied before it tells of the
// end, and a rod that hears of that first takes the command for cancelled.
func (v *View) closed(session messages.SessionID, page messages.TargetID) {
	for _, tag := range slices.Sorted(maps.Keys(v.calls)) {
		if c := v.calls[tag]; c.kind == kindPageClose && c.session == session && c.target == page {
			v.outcome(Outcome{Tag: tag})
		}
	}
}

func (v *View) forget(id messages.SessionID) {
	if a := v.autos[id]; a != nil {
		v.drop(a)
		delete(v.autos, id)
		v.do(v.holds())
	}
	delete(v.sessions, id)
	delete(v.discover, id)
	v.do(Ended{id})
	for _, child := range v.children(id) {
		v.forget(child)
	}
}

func (v *View) children(id messages.SessionID) []messages.SessionID {
	var list []messages.SessionID
	for c, s := range v.sessions {
		if s.parent == id {
			list = append(list, c)
		}
	}
	slices.Sort(list)
	return list
}

// settle gives the replies that have waited for a browser session's attach to a target, which
// has come or never will.
func (v *View) settle(session messages.SessionID, t messages.TargetID) {
	a := v.autoOf(session)
	if a == nil {
		return
	}
	delete(a.pending, t)
	delete(a.awaited, t)
	if a.reply != nil && len(a.awaited) == 0 {
		v.do(*a.reply)
		a.reply = nil
	}
	if r, ok := a.opened[t]; ok {
		delete(a.opened, t)
		v.do(r)
	}
}

// opened replies to Target.createTarget, behind the attach where the client attaches to
// every page: Playwright looks for the page the moment that it has the reply.
func (v *View) opened(r Reply, o Outcome) {
	if o.Err != nil {
		v.do(r)
		return
	}
	r.Result = object("targetId", string(o.Target))
	auto := v.auto
	if v.isBrowser(r.Session) {
		auto = v.autoOf(r.Session)
	}
	if auto != nil && auto.pending[o.Target] {
		auto.opened[o.Target] = r
		return
	}
	v.do(r)
}

// setAutoAttach emulates it on a browser session.
func (v *View) setAutoAttach(c Command) {
	var p struct {
		AutoAttach *bool  `json:"autoAttach"`
		Wait       *bool  `json:"waitForDebuggerOnStart"`
		Flatten    bool   `json:"flatten"`
		Filter     filter `json:"filter"`
	}
	switch {
	case json.Unmarshal(c.Params, &p) != nil || p.AutoAttach == nil || p.Wait == nil:
		v.refuse(c, malformed())
		return
	case *p.AutoAttach && !p.Flatten:
		v.refuse(c, &Error{Code: CodeParams, Message: "Only flatten protocol is supported with browser level auto-attach mode"})
		return
	}
	before := v.autoOf(c.Session)
	v.setAuto(c.Session, nil)
	if before != nil {
		v.drop(before)
	}
	if !*p.AutoAttach {
		v.do(v.holds())
		for _, id := range slices.Sorted(maps.Keys(v.sessions)) {
			if s := v.sessions[id]; s.isAuto && s.parent == c.Session {
				v.detach(id)
			}
		}
		v.reply(c, []byte(`{}`))
		return
	}
	a := &autoAttach{
		filter: p.Filter, isHeld: *p.Wait,
		pending: map[messages.TargetID]bool{}, awaited: map[messages.TargetID]bool{}, opened: map[messages.TargetID]Reply{},
	}
	if before != nil {
		a.pending = before.pending
	}
	v.setAuto(c.Session, a)
	v.do(v.holds())
	for _, id := range v.order {
		v.attachOn(c.Session, v.targets[id])
		if a.pending[id] {
			a.awaited[id] = true
		}
	}
	r := Reply{ID: c.ID, Session: c.Session, Result: []byte(`{}`)}
	if len(a.awaited) == 0 {
		v.do(r)
		return
	}
	a.reply = &r
}

// holds says whether popups are to be held for any browser session of the client.
func (v *View) holds() Holds {
	for _, s := range v.attaching() {
		if v.autoOf(s).isHeld {
			return Holds{true}
		}
	}
	return Holds{}
}

// drop gives the replies that an auto-attach owes which another one replaces.
func (v *View) drop(a *autoAttach) {
	if a.reply != nil {
		v.do(*a.reply)
	}
	for _, t := range slices.Sorted(maps.Keys(a.opened)) {
		v.do(a.opened[t])
	}
}

// detach ends a session of the client.
func (v *View) detach(id messages.SessionID) {
	v.do(Call{Tag: v.call(call{kind: kindDetach}), Session: v.sessions[id].parent, Method: "Target.detachFromTarget", Child: id})
}

// object is a JSON object with one member that is a string.
func object(key, value string) []byte {
	b, _ := json.Marshal(map[string]string{key: value}) // always encodes
	return b
}

// member is a JSON object with one member that is raw.
func member(key string, raw []byte) []byte {
	b := append([]byte(`{"`), key...)
	b = append(append(b, `":`...), raw...)
	return append(b, '}')
}
