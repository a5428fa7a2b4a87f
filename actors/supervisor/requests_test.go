package supervisor_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"holdfast/actors/session"
	"holdfast/actors/supervisor"
	"holdfast/messages"
)

// shownBy is the mechanism that the snapshot names.
func (b *bench) shownBy(want string) {
	b.Helper()
	if got := b.m.Snapshot().Connection.BridgeBy; got != want {
		b.Errorf("the bridge is by %q, want %q", got, want)
	}
}

// does compares what no operator can.
func does(effects []supervisor.Effect, e supervisor.Effect) bool {
	return slices.ContainsFunc(effects, func(other supervisor.Effect) bool { return reflect.DeepEqual(other, e) })
}

func TestBridgeByRequests(t *testing.T) {
	t.Parallel()
	refused := messages.BridgeRefused{Gen: 1, Session: "S", By: messages.ByDebugger, Err: errors.New("no")}
	heard := messages.RequestsHeard{Gen: 1}
	tried := supervisor.ToBrowser{Msg: messages.SetBridge{On: true, By: messages.ByRequest}}
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
		if got := bridgeOrders(b.step(heard), "S"); !slices.Equal(got, []messages.SetBridge{{On: true, By: messages.ByRequest, Epoch: 1}}) {
			t.Errorf("heard: %+v", got)
		}
		b.shownBy("request")
		b.shows(messages.BridgeOn, messages.BridgeNative)
		b.step(messages.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", On: true})
		b.shows(messages.BridgeOn, messages.BridgeOn)
	})
	t.Run("where both are refused pages are native, and nobody asks again", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		b.step(refused)
		b.step(messages.RequestsHeard{Gen: 1, Err: errors.New("no")})
		b.shows(messages.BridgeOn, messages.BridgeUnavailable)
		b.shownBy("debugger")
		if effects := b.step(refused); len(effects) != 0 {
			t.Errorf("again: %+v", effects)
		}
	})
	t.Run("a document that cannot ask makes its page unavailable", func(t *testing.T) {
		t.Parallel()
		b := byRequests(t)
		b.step(messages.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", Unable: true})
		b.shows(messages.BridgeOn, messages.BridgeUnavailable)
	})
	t.Run("a request goes to the session it is for, and one of nobody's is ended where it is held", func(t *testing.T) {
		t.Parallel()
		b := byRequests(t)
		b.step(supervisor.AnchorStarting{Gen: 1})
		label := session.BridgeSecret("").Label("P")
		for _, role := range []messages.Role{messages.RolePrimary, messages.RoleAnchor} {
			r := messages.RequestHeld{Role: role, Gen: 1, Label: label, Key: "1-2-3-4", Request: "job"}
			if effects := b.step(r); !does(effects, supervisor.ToSession{Session: "S", Msg: r}) {
				t.Errorf("%v: %+v", role, effects)
			}
			r.Label = "another"
			want := supervisor.Effect(supervisor.ToBrowser{Msg: messages.EndRequest{Role: role, Gen: 1, Request: "job"}})
			if role == messages.RoleAnchor {
				want = supervisor.ToAnchor{Msg: r} // which may know it
			}
			if effects := b.step(r); !reflect.DeepEqual(effects, []supervisor.Effect{want}) {
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
		b.step(supervisor.AnchorStarting{Gen: 1})
		r := messages.RequestHeld{Role: messages.RoleAnchor, Gen: 1, Label: session.BridgeSecret("").Label("P"), Key: "1-2-3-4", Request: "job"}
		for _, in := range []any{supervisor.BrowserExited{}, supervisor.BrowserStarting{Gen: 2}, supervisor.Linked{Gen: 2, Endpoint: "ws://h/***"}} {
			b.step(in)
			if effects := b.step(r); !reflect.DeepEqual(effects, []supervisor.Effect{supervisor.ToAnchor{Msg: r}}) {
				t.Errorf("after %T: %+v", in, effects)
			}
		}
	})
	t.Run("requests are heard for as long as a document may make one", func(t *testing.T) {
		t.Parallel()
		b := byRequests(t)
		b.step(messages.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", On: true})
		ended := func(effects []supervisor.Effect) bool {
			return slices.ContainsFunc(effects, func(e supervisor.Effect) bool {
				to, ok := e.(supervisor.ToBrowser)
				order, is := to.Msg.(messages.SetBridge)
				return ok && is && !order.On
			})
		}
		if ended(b.step(messages.UpdateSpec{Spec: messages.TaskSpec{Bridge: messages.BridgeOff}.WithDefaults()})) {
			t.Error("ended while a document has the bridge")
		}
		b.shownBy("")
		if !ended(b.step(messages.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S"})) {
			t.Error("not ended")
		}
	})
}
