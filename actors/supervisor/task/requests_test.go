package task_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// shownBy is the mechanism that the snapshot names.
func (b *bench) shownBy(want messages.BridgeBy) {
	b.Helper()
	if got := b.m.Snapshot().Connection.BridgeBy; got != want {
		b.Errorf("the bridge is by %q, want %q", got, want)
	}
}

// does compares what no operator can.
func does(effects []step.Effect, e step.Effect) bool {
	return slices.ContainsFunc(effects, func(other step.Effect) bool { return reflect.DeepEqual(other, e) })
}

func TestBridgeByRequests(t *testing.T) {
	t.Parallel()
	refused := mail.BridgeRefused{Gen: 1, Session: "S", By: mail.ByDebugger, Err: errors.New("no")}
	heard := mail.RequestsHeard{Gen: 1}
	tried := step.ToBrowser{Msg: mail.SetBridge{IsOn: true, By: mail.ByRequest}}
	ended := func(effects []step.Effect) bool {
		return slices.ContainsFunc(effects, func(e step.Effect) bool {
			to, ok := e.(step.ToBrowser)
			order, is := to.Msg.(mail.SetBridge)
			return ok && is && !order.IsOn
		})
	}
	byRequests := func(t *testing.T) *bench {
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		b.step(refused)
		b.step(heard)
		return b
	}

	t.Run("it is tried once the debugger is refused, and the sessions are told once it is there", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		b.shownBy("debugger")
		effects := b.step(refused)
		if !does(effects, tried) || len(bridgeOrders(effects, "S")) != 0 {
			t.Errorf("refused: %+v", effects)
		}
		b.shows(messages.BridgeOn, messages.BridgeUnavailable)
		if got := bridgeOrders(b.step(heard), "S"); !slices.Equal(got, []mail.SetBridge{{IsOn: true, By: mail.ByRequest, Epoch: 1}}) {
			t.Errorf("heard: %+v", got)
		}
		b.shownBy("request")
		b.shows(messages.BridgeOn, messages.BridgeNative)
		b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", IsOn: true})
		b.shows(messages.BridgeOn, messages.BridgeOn)
	})
	t.Run("where both are refused pages are native, and nobody asks again", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		b.step(refused)
		b.step(mail.RequestsHeard{Gen: 1, Err: errors.New("no")})
		b.shows(messages.BridgeOn, messages.BridgeUnavailable)
		b.shownBy("debugger")
		if effects := b.step(refused); len(effects) != 0 {
			t.Errorf("again: %+v", effects)
		}
	})
	t.Run("a document that cannot ask makes its page unavailable", func(t *testing.T) {
		t.Parallel()
		b := byRequests(t)
		b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", IsUnable: true})
		b.shows(messages.BridgeOn, messages.BridgeUnavailable)
	})
	t.Run("a request goes to the session it is for, and one of nobody's is ended where it is held", func(t *testing.T) {
		t.Parallel()
		b := byRequests(t)
		b.step(step.AnchorStarting{Gen: 1})
		label := bridge.Secret{}.Label("P")
		for _, role := range []messages.Role{messages.RolePrimary, messages.RoleAnchor} {
			r := mail.RequestHeld{Role: role, Gen: 1, Label: label, Key: "1-2-3-4", Request: "job"}
			if effects := b.step(r); !does(effects, step.ToSession{Session: "S", Msg: r}) {
				t.Errorf("%v: %+v", role, effects)
			}
			r.Label = "another"
			want := step.Effect(step.ToBrowser{Msg: mail.EndRequest{Role: role, Gen: 1, Request: "job"}})
			if role == messages.RoleAnchor {
				want = step.ToAnchor{Msg: r} // which may know it
			}
			if effects := b.step(r); !reflect.DeepEqual(effects, []step.Effect{want}) {
				t.Errorf("%v, nobody's: %+v", role, effects)
			}
			r.Gen = 0
			if effects := b.step(r); len(effects) != 0 {
				t.Errorf("%v, of a link before: %+v", role, effects)
			}
		}
	})
	t.Run("what the anchor holds while the primary has no session it decides by itself", func(t *testing.T) {
		t.Parallel()
		b := byRequests(t)
		b.step(step.AnchorStarting{Gen: 1})
		r := mail.RequestHeld{Role: messages.RoleAnchor, Gen: 1, Label: bridge.Secret{}.Label("P"), Key: "1-2-3-4", Request: "job"}
		for _, in := range []any{step.BrowserExited{}, step.BrowserStarting{Gen: 2}, step.Linked{Gen: 2, Endpoint: "ws://h/***"}} {
			b.step(in)
			if effects := b.step(r); !reflect.DeepEqual(effects, []step.Effect{step.ToAnchor{Msg: r}}) {
				t.Errorf("after %T: %+v", in, effects)
			}
		}
	})
	t.Run("a request that was told once is told again to who comes after", func(t *testing.T) {
		t.Parallel()
		label := bridge.Secret{}.Label
		page := mail.RequestHeld{Role: messages.RolePrimary, Gen: 1, Label: label("P"), Key: "1-2-3-4", Request: "job"}
		frame := mail.RequestHeld{Role: messages.RoleAnchor, Gen: 1, Label: label("F"), Key: "5-6-7-8", Request: "job"}
		attachPage := func(s messages.SessionID, gen mail.Generation) mail.TargetAttached {
			return mail.TargetAttached{Gen: gen, Session: s, Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}}
		}
		attachFrame := func(s, via messages.SessionID) mail.TargetAttached {
			return mail.TargetAttached{Gen: 1, Session: s, Via: via, Page: "P", Info: mail.TargetInfo{ID: "F", Type: "iframe"}}
		}
		for name, c := range map[string]struct {
			before []any
			last   any
			told   []step.ToSession
		}{
			"a page's next session":        {[]any{mail.TargetDetached{Gen: 1, Session: "S"}}, attachPage("S2", 1), []step.ToSession{{Session: "S2", Msg: page}}},
			"a frame's, by another parent": {[]any{step.SessionFailed{Session: "S"}, attachPage("S2", 1)}, attachFrame("SF2", "S2"), []step.ToSession{{Session: "SF2", Msg: frame}}},
			"the newest": {
				[]any{mail.RequestHeld{Role: messages.RolePrimary, Gen: 1, Label: label("P"), Key: "9-9-9-9", Request: "another"}, page},
				attachPage("S2", 1),
				[]step.ToSession{{Session: "S2", Msg: page}},
			},
			"not of a link that is gone": {[]any{step.BrowserExited{}, step.BrowserStarting{Gen: 2}, step.Linked{Gen: 2}}, attachPage("S2", 2), nil},
			"nor of an anchor":           {[]any{step.AnchorExited{}, step.SessionFailed{Session: "SF"}, attachPage("S2", 1)}, attachFrame("SF2", "S2"), nil},
			"nor what a bridge that is off has let go": {
				[]any{
					mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", IsOn: true},
					mail.UpdateSpec{Spec: messages.TaskSpec{Bridge: messages.BridgeOff}.WithDefaults()},
					mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S"},
				},
				attachPage("S2", 1),
				nil,
			},
		} {
			b := byRequests(t)
			b.step(step.AnchorStarting{Gen: 1})
			b.step(attachFrame("SF", "S"))
			for _, in := range append([]any{page, frame}, c.before...) {
				b.step(in)
			}
			var told []step.ToSession
			for _, e := range b.step(c.last) {
				if to, ok := e.(step.ToSession); ok {
					if _, ok := to.Msg.(mail.RequestHeld); ok {
						told = append(told, to)
					}
				}
			}
			if !reflect.DeepEqual(told, c.told) {
				t.Errorf("%s: told %+v, want %+v", name, told, c.told)
			}
		}
	})
	t.Run("where a session has been given the debugger, another's refusal is its own", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		b.step(mail.TargetAttached{Gen: 1, Session: "Q", Page: "Q", Info: mail.TargetInfo{ID: "Q", Type: "page", Opener: "P"}})
		b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "Q", IsOn: true})
		if effects := b.step(refused); does(effects, tried) {
			t.Error("all of the task is to change for one page")
		}
		b.shows(messages.BridgeOn, messages.BridgeUnavailable)
		b.shownBy("debugger")
	})
	t.Run("nor does it count where another is given it before the browser has answered", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		b.step(mail.TargetAttached{Gen: 1, Session: "Q", Page: "Q", Info: mail.TargetInfo{ID: "Q", Type: "page", Opener: "P"}})
		b.step(refused)
		b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "Q", IsOn: true})
		if effects := b.step(heard); !ended(effects) {
			t.Errorf("heard: %+v", effects)
		}
		b.shownBy("debugger")
	})
	t.Run("another browser is asked for its debugger", func(t *testing.T) {
		t.Parallel()
		for mark, want := range map[string]messages.BridgeBy{"B1": "request", "B2": "debugger", "": "request"} {
			b := &bench{T: t, m: machineOf(messages.TaskSpec{Bridge: messages.BridgeOn}.WithDefaults()), now: time.Unix(1000, 0)}
			b.step(step.BrowserStarting{Gen: 1})
			b.step(step.Linked{Gen: 1, Browser: "B1"})
			b.step(mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
			b.step(mail.RootAttached{Gen: 1, Pages: []messages.TargetID{"P"}})
			b.step(mail.SessionReady{Gen: 1, Session: "S", Target: "P"})
			b.step(refused)
			b.step(heard)
			b.shownBy("request")
			b.step(step.BrowserExited{})
			b.step(step.BrowserStarting{Gen: 2})
			b.step(step.Linked{Gen: 2, Browser: mark})
			b.shownBy(want)
		}
	})
	t.Run("requests are not heard where nobody has a use for them, and asked for again", func(t *testing.T) {
		t.Parallel()
		off := mail.UpdateSpec{Spec: messages.TaskSpec{Bridge: messages.BridgeOff}.WithDefaults()}
		on := mail.UpdateSpec{Spec: messages.TaskSpec{Bridge: messages.BridgeOn}.WithDefaults()}
		native := mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S"}
		heardBy := func(gen mail.Generation) mail.RequestsHeard { return mail.RequestsHeard{Gen: gen} }
		for name, c := range map[string]struct {
			ins []any // after the debugger was refused; the last turns the bridge on
			off int   // the one after which nothing is heard; -1: none
		}{
			"the only page was unavailable": {[]any{
				heard, mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", IsUnable: true}, off, native, on, heard,
			}, 3},
			"the only page ends": {[]any{
				heard, mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", IsOn: true}, off, mail.TargetDetached{Gen: 1, Session: "S"}, on, heard,
			}, 3},
			"off during the question":        {[]any{off, heard, on, refused, heard}, 1},
			"off and on during the question": {[]any{off, on, heard}, -1},
			"off while the link is dialled": {[]any{
				heard, step.BrowserExited{}, step.BrowserStarting{Gen: 2}, off, heardBy(2), on, heardBy(2),
			}, 4},
			"on while the link is dialled": {[]any{
				heard, off, native, step.BrowserExited{}, step.BrowserStarting{Gen: 2}, on, heardBy(2),
			}, 2},
			"on while there is none": {[]any{
				heard, off, native, step.BrowserExited{}, on, step.BrowserStarting{Gen: 2}, heardBy(2),
			}, 2},
		} {
			b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
			b.step(refused)
			for i, in := range c.ins {
				effects := b.step(in)
				if got := ended(effects); got != (i == c.off) {
					t.Errorf("%s: after input %d: ended %t", name, i, got)
				}
				told := slices.ContainsFunc(effects, func(e step.Effect) bool {
					to, _ := e.(step.ToAnchor)
					order, _ := to.Msg.(mail.SetBridge)
					return order.IsOn && order.By == mail.ByRequest
				})
				if last := i == len(c.ins)-1; last && !told {
					t.Errorf("%s: nobody is told that the bridge is on", name)
				}
			}
			b.shownBy("request")
		}
	})
	t.Run("where they are refused later, no page has the bridge, until the next link", func(t *testing.T) {
		t.Parallel()
		off := mail.UpdateSpec{Spec: messages.TaskSpec{Bridge: messages.BridgeOff}.WithDefaults()}
		on := mail.UpdateSpec{Spec: messages.TaskSpec{Bridge: messages.BridgeOn}.WithDefaults()}
		native, no := mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S"}, errors.New("no")
		for name, c := range map[string]struct {
			ins []any // the last is the refusal
			gen mail.Generation
			s   messages.SessionID
		}{
			"turned on again": {[]any{off, native, on, mail.RequestsHeard{Gen: 1, Err: no}}, 1, "S"},
			"by another link": {[]any{
				step.BrowserExited{},
				step.BrowserStarting{Gen: 2},
				step.Linked{Gen: 2},
				mail.TargetAttached{Gen: 2, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}},
				mail.RootAttached{Gen: 2, Pages: []messages.TargetID{"P"}},
				mail.SessionReady{Gen: 2, Session: "S2", Target: "P"},
				mail.RequestsHeard{Gen: 2, Err: no},
			}, 2, "S2"},
		} {
			b := byRequests(t)
			b.step(step.AnchorStarting{Gen: 1})
			b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", IsOn: true})
			var last []step.Effect
			for _, in := range c.ins {
				last = b.step(in)
			}
			b.shows(messages.BridgeOn, messages.BridgeUnavailable)
			if !slices.ContainsFunc(last, func(e step.Effect) bool {
				to, _ := e.(step.ToAnchor)
				order, ok := to.Msg.(mail.SetBridge)
				return ok && !order.IsOn
			}) {
				t.Errorf("%s: the anchor is not told: %+v", name, last)
			}
			b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: c.gen, Session: c.s})
			b.shows(messages.BridgeOn, messages.BridgeUnavailable)
			b.step(mail.TargetAttached{Gen: c.gen, Session: "Q", Page: "Q", Info: mail.TargetInfo{ID: "Q", Type: "page", Opener: "P"}})
			if s := b.m.Snapshot(); len(s.Pages) != 2 || s.Pages[1].Bridge != messages.BridgeUnavailable {
				t.Errorf("%s: pages %+v", name, s.Pages)
			}
			next := c.gen + 1
			b.step(step.BrowserExited{})
			b.step(step.BrowserStarting{Gen: next})
			b.step(step.Linked{Gen: next})
			b.step(mail.TargetAttached{Gen: next, Session: "S9", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
			b.step(mail.RequestsHeard{Gen: next})
			b.step(mail.RootAttached{Gen: next, Pages: []messages.TargetID{"P"}})
			b.step(mail.SessionReady{Gen: next, Session: "S9", Target: "P"})
			b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: next, Session: "S9", IsOn: true})
			b.shows(messages.BridgeOn, messages.BridgeOn)
		}
	})
	t.Run("requests are heard for as long as a document may make one", func(t *testing.T) {
		t.Parallel()
		b := byRequests(t)
		b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", IsOn: true})
		if ended(b.step(mail.UpdateSpec{Spec: messages.TaskSpec{Bridge: messages.BridgeOff}.WithDefaults()})) {
			t.Error("ended while a document has the bridge")
		}
		b.shownBy("")
		if !ended(b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S"})) {
			t.Error("not ended")
		}
	})
}
