package task_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/supervisor/step"
	"holdfast/internal/backend"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// attachedWith is a machine whose browser is known to have caps, with page P attached, and
// the effects of all of that.
func attachedWith(t *testing.T, caps backend.Caps, spec messages.TaskSpec) (*bench, []step.Effect) {
	b := &bench{T: t, m: machineOf(spec.WithDefaults()), now: time.Unix(1000, 0)}
	b.m.SetCaps(caps)
	var effects []step.Effect
	for _, in := range []any{
		step.BrowserStarting{Gen: 1},
		step.Linked{Gen: 1, Endpoint: "ws://h/***", Browser: "B"},
		mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}},
		mail.RootAttached{Gen: 1, Pages: []messages.TargetID{"P"}},
		mail.SessionReady{Gen: 1, Session: "S", Target: "P"},
	} {
		effects = append(effects, b.step(in)...)
	}
	return b, effects
}

func (b *bench) anchorOff(want messages.AnchorOff) {
	b.Helper()
	if c := b.m.Snapshot().Connection; c.AnchorOff != want || (c.Anchor == messages.LinkDown) != (want != "") {
		b.Errorf("anchor %s, off %q, want %q", c.Anchor, c.AnchorOff, want)
	}
}

// TestABrowserWithoutASecondLinkGetsNoAnchor: not at the start, not after a loss, not after
// an hour, and not with a spec that asks for one.
func TestABrowserWithoutASecondLinkGetsNoAnchor(t *testing.T) {
	t.Parallel()
	for known, off := range map[backend.Known]messages.AnchorOff{backend.Unknown: "", backend.Yes: "", backend.No: messages.AnchorOffSingle} {
		b, effects := attachedWith(t, backend.Caps{SecondLink: known}, messages.TaskSpec{})
		b.anchorOff(off)
		if has[step.StartAnchor](effects) != (off == "") {
			t.Fatalf("%d: %+v", known, effects)
		}
		if off == "" {
			continue
		}
		spec := func(anchor messages.Anchor) mail.UpdateSpec {
			return mail.UpdateSpec{Spec: messages.TaskSpec{Anchor: anchor}.WithDefaults()}
		}
		for _, in := range []any{
			spec(messages.AnchorNone), spec(messages.AnchorAuto),
			step.BrowserExited{Err: errReset},
			step.BrowserStarting{Gen: 2},
			step.Linked{Gen: 2, Browser: "B"},
			mail.TargetAttached{Gen: 2, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}},
			mail.RootAttached{Gen: 2, Pages: []messages.TargetID{"P"}},
			mail.SessionReady{Gen: 2, Session: "S", Target: "P"},
			step.TimerFired{Name: "anchor again"},
		} {
			b.now = b.now.Add(10 * time.Minute)
			if has[step.StartAnchor](b.step(in)) {
				t.Errorf("%T starts an anchor", in)
			}
		}
		b.anchorOff(off)
	}
}

// TestTheBridgeBeginsWithWhatTheBrowserCanDo: what it is known not to give is not asked for.
func TestTheBridgeBeginsWithWhatTheBrowserCanDo(t *testing.T) {
	t.Parallel()
	refused := mail.BridgeRefused{Gen: 1, Session: "S", By: mail.ByDebugger, Err: errReset}
	for name, c := range map[string]struct {
		caps  backend.Caps
		by    messages.BridgeBy
		after []any // ins, of which none may ask the browser for requests
		asks  bool  // but where it may
	}{
		"nothing known":                 {backend.Caps{}, "debugger", []any{refused}, true},
		"no debugger":                   {backend.Caps{Debugger: backend.No}, "request", []any{mail.RequestsHeard{Gen: 1}}, false},
		"no requests":                   {backend.Caps{RootFetch: backend.No}, "debugger", []any{refused}, false},
		"neither":                       {backend.Caps{Debugger: backend.No, RootFetch: backend.No}, "request", []any{refused}, false},
		"neither, off and on once more": {backend.Caps{Debugger: backend.No, RootFetch: backend.No}, "request", []any{bridgeSpec(messages.BridgeOff), bridgeSpec(messages.BridgeOn)}, false},
		"no debugger, off and on":       {backend.Caps{Debugger: backend.No}, "request", []any{bridgeSpec(messages.BridgeOff), bridgeSpec(messages.BridgeOn)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := attachedWith(t, c.caps, messages.TaskSpec{Bridge: messages.BridgeOn})
			b.shownBy(c.by)
			asks := false
			for _, in := range c.after {
				asks = asks || asksForRequests(b.step(in))
			}
			if asks != c.asks {
				t.Errorf("asks for requests: %t, want %t", asks, c.asks)
			}
			// Another browser behind the same backend begins in the same way.
			b.step(step.BrowserExited{Err: errReset})
			b.step(step.BrowserStarting{Gen: 2})
			b.step(step.Linked{Gen: 2, Browser: "C"})
			b.shownBy(c.by)
		})
	}
}

func bridgeSpec(to messages.Bridge) mail.UpdateSpec {
	return mail.UpdateSpec{Spec: messages.TaskSpec{Bridge: to}.WithDefaults()}
}

func asksForRequests(effects []step.Effect) bool {
	return slices.ContainsFunc(effects, func(e step.Effect) bool {
		to, _ := e.(step.ToBrowser)
		order, ok := to.Msg.(mail.SetBridge)
		return ok && order.IsOn && order.By == mail.ByRequest
	})
}
