package task_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// bridgeOrders are those that turn a session's bridge on or off.
func bridgeOrders(effects []step.Effect, session messages.SessionID) (list []mail.SetBridge) {
	for _, e := range effects {
		if to, ok := e.(step.ToSession); ok && to.Session == session {
			if o, ok := to.Msg.(mail.SetBridge); ok {
				list = append(list, o)
			}
		}
	}
	return list
}

// shows is the bridge of the task and of its first page, as the snapshot has them.
func (b *bench) shows(task, page messages.Bridge) {
	b.Helper()
	s := b.m.Snapshot()
	if s.Connection.Bridge != task || s.Pages[0].Bridge != page {
		b.Errorf("the task's bridge is %q and the page's %q, want %q and %q", s.Connection.Bridge, s.Pages[0].Bridge, task, page)
	}
}

func TestBridgeOfATask(t *testing.T) {
	t.Parallel()
	needed := mail.BridgeNeeded{Dialog: "d-1", Page: "P", After: 5 * time.Millisecond}
	turns := step.TimerFired{Name: "needed:P"}
	stands := mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "S", IsOn: true}

	t.Run("auto turns to it once, and says so of a page once the page has it", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeAuto})
		b.shows(messages.BridgeNative, messages.BridgeNative)
		b.step(needed)
		effects := b.step(turns)
		if got := bridgeOrders(effects, "S"); !slices.Equal(got, []mail.SetBridge{{IsOn: true, Epoch: 1}}) || !has[step.BridgeTaken](effects) {
			t.Errorf("orders %+v, taken %v", got, has[step.BridgeTaken](effects))
		}
		b.shows(messages.BridgeOn, messages.BridgeNative)
		b.step(stands)
		b.shows(messages.BridgeOn, messages.BridgeOn)
		if effects := append(b.step(needed), b.step(turns)...); len(effects) != 0 {
			t.Errorf("the second time: %+v", effects)
		}
	})
	t.Run("the end of a renderer, a page or a browser is nobody's dismissal, whichever is told first", func(t *testing.T) {
		t.Parallel()
		closes := func(page messages.TargetID) any { return mail.PageClosed{Gen: 1, Page: page} }
		crash := func(page messages.TargetID) any {
			return mail.SessionHealth{Gen: 1, Session: "S", Page: page, IsPage: true, State: messages.PageCrashed}
		}
		for name, c := range map[string]struct {
			ins  []any
			want messages.Bridge
		}{
			"a crash after the dialog's end": {[]any{needed, crash("P")}, messages.BridgeNative},
			"a crash before it":              {[]any{crash("P"), needed}, messages.BridgeNative},
			"that of another page":           {[]any{needed, crash("Q")}, messages.BridgeOn},
			"and a dismissal besides":        {[]any{needed, crash("P"), mail.BridgeNeeded{Dialog: "d-2", Page: "Q"}, step.TimerFired{Name: "needed:Q"}}, messages.BridgeOn},
			"a page closes after it":         {[]any{needed, closes("P")}, messages.BridgeNative},
			"a page closes before it":        {[]any{closes("P"), needed}, messages.BridgeNative},
			"another page closes":            {[]any{needed, closes("Q")}, messages.BridgeOn},
			"the browser ends after it":      {[]any{needed, step.BrowserExited{}}, messages.BridgeNative},
			"the browser ends before it":     {[]any{step.BrowserExited{}, needed}, messages.BridgeNative},
		} {
			b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeAuto})
			b.step(mail.TargetAttached{Gen: 1, Session: "Q", Page: "Q", Info: mail.TargetInfo{ID: "Q", Type: "page", Opener: "P"}})
			for _, in := range c.ins {
				b.step(in)
			}
			b.step(turns)
			if got := b.m.Snapshot().Connection.Bridge; got != c.want {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
	t.Run("it is the end of the renderer that the dialog was of", func(t *testing.T) {
		t.Parallel()
		of := func(f messages.FrameID) any {
			return mail.BridgeNeeded{Dialog: "d-1", Page: "P", Frame: f, Heard: time.Unix(1001, 0)}
		}
		dies := mail.SessionHealth{Gen: 1, Session: "SF", Page: "P", State: messages.PageCrashed}
		lives := mail.SessionHealth{Gen: 1, Session: "SF", Page: "P", State: messages.PageOK}
		within := []messages.FrameNode{{FrameID: "F", ParentFrameID: "P", IsOOPIF: true, SessionID: "SF"}, {FrameID: "G", ParentFrameID: "F"}}
		for name, c := range map[string]struct {
			before, after []any // the dialog has opened
			want          messages.Bridge
		}{
			"the frame's own":               {nil, []any{of("F"), dies}, messages.BridgeNative},
			"and it is told of first":       {nil, []any{dies, of("F")}, messages.BridgeNative},
			"and again one lives":           {nil, []any{dies, lives, of("F")}, messages.BridgeNative},
			"that of the frame above it":    {nil, []any{of("G"), dies}, messages.BridgeNative},
			"with which it has gone":        {nil, []any{dies, of("H")}, messages.BridgeNative},
			"that of a frame of the page's": {nil, []any{of("P"), dies}, messages.BridgeOn},
			"and that is told of first":     {nil, []any{dies, of("P")}, messages.BridgeOn},
			"from before the dialog":        {[]any{dies}, []any{of("P")}, messages.BridgeOn},
			"from before one that has gone": {[]any{dies}, []any{of("H")}, messages.BridgeOn},
			"in whose place another lives":  {[]any{dies, lives}, []any{of("F")}, messages.BridgeOn},
			"which dies as well":            {[]any{dies, lives}, []any{of("F"), dies}, messages.BridgeNative},
		} {
			b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeAuto})
			b.step(mail.TargetAttached{Gen: 1, Session: "SF", Via: "S", Page: "P", Info: mail.TargetInfo{ID: "F", Type: "iframe"}})
			b.step(mail.FramesChanged{Gen: 1, Page: "P", Tree: &messages.FrameTree{Top: messages.FrameTop{FrameID: "P"}, Children: within}})
			for _, in := range c.before {
				b.step(in)
			}
			b.now = time.Unix(1001, 0)
			for _, in := range c.after {
				b.step(in)
			}
			b.step(turns)
			if got := b.m.Snapshot().Connection.Bridge; got != c.want {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
	t.Run("the end of the dialog's document is no dismissal of it", func(t *testing.T) {
		t.Parallel()
		heard := time.Unix(1001, 0)
		of := func(f messages.FrameID) any {
			return mail.BridgeNeeded{Dialog: "d-1", Page: "P", Frame: f, Heard: heard}
		}
		moves := func(f messages.FrameID) any { return mail.FrameMoved{Gen: 1, Page: "P", Frame: f} }
		early := mail.FrameMoved{Gen: 1, Page: "P", Frame: "F", Heard: heard.Add(-time.Millisecond)}
		many := make([]any, 32)
		for i := range many {
			many[i] = moves("G")
		}
		within := []messages.FrameNode{{FrameID: "F", ParentFrameID: "P", IsOOPIF: true, SessionID: "SF"}, {FrameID: "G", ParentFrameID: "P"}, {FrameID: "H", ParentFrameID: "F"}}
		for name, c := range map[string]struct {
			ins  []any
			want messages.Bridge
		}{
			"its frame's, told of after it":     {[]any{of("F"), moves("F")}, messages.BridgeNative},
			"its frame's, told of before it":    {[]any{moves("F"), of("F")}, messages.BridgeNative},
			"that of a frame above":             {[]any{of("H"), moves("F")}, messages.BridgeNative},
			"the page's":                        {[]any{of("H"), moves("P")}, messages.BridgeNative},
			"the page's, of the page's":         {[]any{moves("P"), of("P")}, messages.BridgeNative},
			"that of a frame that is not known": {[]any{moves("X"), of("X")}, messages.BridgeNative},
			"more than can be remembered":       {append(many[:32:32], of("F")), messages.BridgeNative},
			"that of a frame beside it":         {[]any{of("F"), moves("G")}, messages.BridgeOn},
			"that of a frame below":             {[]any{of("F"), moves("H")}, messages.BridgeOn},
			"its own document":                  {[]any{early, of("F")}, messages.BridgeOn},
			"another link's":                    {[]any{of("F"), mail.FrameMoved{Gen: 7, Page: "P", Frame: "F"}}, messages.BridgeOn},
			"another page's":                    {[]any{of("F"), mail.FrameMoved{Gen: 1, Page: "Q", Frame: "F"}}, messages.BridgeOn},
		} {
			b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeAuto})
			b.step(mail.FramesChanged{Gen: 1, Page: "P", Tree: &messages.FrameTree{Top: messages.FrameTop{FrameID: "P"}, Children: within}})
			b.now = heard.Add(time.Millisecond)
			for _, in := range c.ins {
				b.step(in)
			}
			b.step(turns)
			if got := b.m.Snapshot().Connection.Bridge; got != c.want {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
	t.Run("each page has its own time to crash in", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeAuto})
		b.step(mail.TargetAttached{Gen: 1, Session: "Q", Page: "Q", Info: mail.TargetInfo{ID: "Q", Type: "page", Opener: "P"}})
		b.step(needed)
		b.step(mail.BridgeNeeded{Dialog: "d-2", Page: "Q"})
		b.step(mail.PageClosed{Gen: 1, Page: "P"})
		b.step(turns)
		b.shows(messages.BridgeNative, messages.BridgeNative)
		b.step(step.TimerFired{Name: "needed:Q"})
		b.shows(messages.BridgeOn, messages.BridgeNative)
	})
	t.Run("who has chosen is not asked", func(t *testing.T) {
		t.Parallel()
		for choice, shown := range map[messages.Bridge]messages.Bridge{messages.BridgeOff: messages.BridgeNative, messages.BridgeOn: messages.BridgeOn} {
			b := attachedAs(t, messages.TaskSpec{Bridge: choice})
			if effects := append(b.step(needed), b.step(turns)...); len(effects) != 0 {
				t.Errorf("%s: %+v", choice, effects)
			}
			b.shows(shown, messages.BridgeNative)
		}
	})
	t.Run("a task that has turned to it stays there over a reconnect", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeAuto})
		b.step(needed)
		b.step(turns)
		b.step(stands)
		b.step(step.BrowserExited{})
		b.step(step.BrowserStarting{Gen: 2})
		b.step(step.Linked{Gen: 2, Endpoint: "ws://h/***"})
		b.step(mail.TargetAttached{Gen: 2, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
		b.step(mail.RootAttached{Gen: 2, Pages: []messages.TargetID{"P"}})
		b.step(mail.SessionReady{Gen: 2, Session: "S2", Target: "P"})
		b.shows(messages.BridgeOn, messages.BridgeNative)
		b.step(stands) // of the last link
		b.shows(messages.BridgeOn, messages.BridgeNative)
		b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: 2, Session: "S2", IsOn: true})
		b.shows(messages.BridgeOn, messages.BridgeOn)
	})
	t.Run("a page that is refused it is unavailable, and the others are not", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		b.step(mail.TargetAttached{Gen: 1, Session: "Q", Page: "Q", Info: mail.TargetInfo{ID: "Q", Type: "page", Opener: "P"}})
		b.step(mail.BridgeRefused{Gen: 1, Session: "S"})
		b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "Q", IsOn: true})
		b.shows(messages.BridgeOn, messages.BridgeUnavailable)
		if s := b.m.Snapshot(); len(s.Pages) != 2 || s.Pages[1].Bridge != messages.BridgeOn {
			t.Errorf("pages %+v", s.Pages)
		}
		if effects := b.step(mail.BridgeRefused{Gen: 1, Session: "S"}); len(effects) != 0 {
			t.Errorf("the second time: %+v", effects)
		}
	})
	t.Run("a page has it once its frames have", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		b.step(mail.TargetAttached{Gen: 1, Session: "SF", Via: "S", Page: "P", Info: mail.TargetInfo{ID: "F", Type: "iframe"}})
		b.step(stands)
		b.shows(messages.BridgeOn, messages.BridgeNative)
		b.step(mail.BridgeStands{Role: messages.RolePrimary, Gen: 1, Session: "SF", IsOn: true})
		b.shows(messages.BridgeOn, messages.BridgeOn)
	})
	t.Run("a spec that wants another follows at once, each with a newer epoch", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOff})
		last := uint64(0)
		for _, choice := range []messages.Bridge{messages.BridgeOn, messages.BridgeOff, messages.BridgeAuto, messages.BridgeOn} {
			got := bridgeOrders(b.step(mail.UpdateSpec{Spec: messages.TaskSpec{Bridge: choice}.WithDefaults()}), "S")
			if choice == messages.BridgeAuto {
				if len(got) != 0 { // native as before
					t.Errorf("auto: %+v", got)
				}
				continue
			}
			if len(got) != 1 || got[0].IsOn != (choice == messages.BridgeOn) || got[0].Epoch <= last {
				t.Fatalf("%s: %+v after epoch %d", choice, got, last)
			}
			last = got[0].Epoch
		}
	})
	t.Run("at its end a task gives the pages back their own functions", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		b.step(stands)
		var got []mail.SetBridge
		for _, in := range []any{mail.StopTask{}, step.AnchorExited{}} {
			got = append(got, bridgeOrders(b.step(in), "S")...)
		}
		if len(got) != 1 || got[0].IsOn || got[0].Epoch == 0 {
			t.Errorf("orders at the end: %+v", got)
		}
	})
	t.Run("a page with the bridge that opens a native dialog is unavailable until its next document", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		before := b.now
		b.now = b.now.Add(time.Second)
		b.step(stands)
		opens := func(typ messages.DialogType, path messages.DialogPath, heard time.Time) {
			d := messages.Dialog{ID: "d-1", Type: typ, Path: path, TargetID: "P", FrameID: "P", Heard: heard}
			b.step(mail.DialogsChanged{Opened: &d, Pending: []messages.Dialog{d}})
			b.step(mail.DialogsChanged{Closed: &messages.ClosedDialog{ID: d.ID, Type: typ, Path: path, TargetID: "P", ClosedBy: messages.ClosedByAgent}})
		}
		opens("confirm", messages.PathBridge, b.now)
		opens("beforeunload", messages.PathNative, b.now)
		opens("confirm", messages.PathNative, before)
		b.shows(messages.BridgeOn, messages.BridgeOn)
		opens("confirm", messages.PathNative, b.now)
		b.shows(messages.BridgeOn, messages.BridgeUnavailable)
		b.step(stands)
		b.shows(messages.BridgeOn, messages.BridgeUnavailable)
		b.step(mail.PageNavigated{Gen: 1, Page: "P", URL: "http://a.test/"})
		b.shows(messages.BridgeOn, messages.BridgeOn)
	})
}
