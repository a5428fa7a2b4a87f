package link_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/actors/session/sessiontest"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Whatever comes between, an anchor that has seen a page of the task says so:
// else its browser would be taken for another.
func TestAnAnchorSaysWhatItHasSeen(t *testing.T) {
	t.Parallel()
	attached := mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}}
	leave, cover := mail.LeavePage{Page: "P"}, mail.CoverPage{Page: "P"}
	for name, story := range map[string][]any{
		"a page":                          {attached},
		"one that it leaves":              {attached, leave},
		"one that it has left":            {leave, attached},
		"one that it is to cover again":   {leave, attached, cover},
		"one that it covers and leaves":   {leave, cover, attached, leave},
		"one that it leaves and covers":   {attached, leave, cover},
		"one that was told of both times": {leave, attached, cover, leave},
	} {
		for _, scope := range []messages.Scope{messages.ScopeBrowser, messages.ScopeOwn} {
			m := link.NewAnchor(link.Config{Gen: 1, Scope: scope, Owned: []messages.TargetID{"P"}})
			m.Step(time.Time{}, effect.Start{})
			for _, in := range story {
				m.Step(time.Time{}, in)
			}
			told := false
			for _, e := range m.Step(time.Time{}, effect.Replied{Tag: effect.Tag{Kind: link.TagRoot}}) {
				if to, ok := e.(effect.ToSupervisor); ok {
					if a, ok := to.Msg.(mail.AnchorAttached); ok {
						told = slices.Equal(a.Pages, []messages.TargetID{"P"})
					}
				}
			}
			if !told {
				t.Errorf("%s, scope %s: not told", name, scope)
			}
		}
	}
}

// TestAnAnchorThatIsLeftAloneCloses is an end in which the primary falls: what it
// was to close is left to the anchor, also when that is about to go.
func TestAnAnchorThatIsLeftAloneCloses(t *testing.T) {
	t.Parallel()
	attached := mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}}
	calm, flushed := effect.Replied{Tag: effect.Tag{Kind: link.TagCalm}}, effect.Replied{Tag: effect.Tag{Kind: link.TagFlushed}}
	helped := effect.Replied{Tag: effect.Tag{Kind: link.TagCreate, Seq: 1}, Result: []byte(`{"targetId":"H"}`)}
	free := effect.Replied{Tag: effect.Tag{Kind: link.TagAlone, Page: "P"}, Result: []byte(`{"targetInfo":{"attached":false}}`)}
	alone, refused := mail.PrimaryUp{IsUp: false}, errors.New("no such page")
	popup := mail.TargetAttached{Gen: 1, Session: "T", Page: "Q", Info: mail.TargetInfo{ID: "Q", Type: "page", Opener: "P"}}
	for name, c := range map[string]struct {
		scope messages.Scope
		steps []any
		close []messages.TargetID
	}{
		"before it was told to leave":    {messages.ScopeOwn, []any{alone, mail.Leave{}, calm, flushed}, []messages.TargetID{"P"}},
		"as soon as it was told to":      {messages.ScopeOwn, []any{mail.Leave{}, alone, calm, flushed}, []messages.TargetID{"P"}},
		"when it has nearly left":        {messages.ScopeOwn, []any{mail.Leave{}, calm, alone, flushed}, []messages.TargetID{"P"}},
		"what opens meanwhile, too":      {messages.ScopeOwn, []any{alone, mail.Leave{}, calm, popup, flushed}, []messages.TargetID{"P", "Q"}},
		"what the primary was freeing":   {messages.ScopeOwn, []any{mail.LeavePage{Page: "P"}, alone, mail.FreeFirst{Page: "P"}, mail.Leave{}, calm, helped, free, flushed}, []messages.TargetID{"P"}},
		"not at all":                     {messages.ScopeOwn, []any{mail.Leave{}, calm}, nil},
		"with pages that are the user's": {messages.ScopeBrowser, []any{alone, mail.Leave{}, calm, popup}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := link.NewAnchor(link.Config{Gen: 1, Scope: c.scope, Owned: []messages.TargetID{"P"}})
			m.Step(time.Time{}, effect.Start{})
			m.Step(time.Time{}, attached)
			m.Step(time.Time{}, effect.Replied{Tag: effect.Tag{Kind: link.TagRoot}})
			var closed []messages.TargetID
			over := false
			step := func(in any) {
				for _, e := range m.Step(time.Time{}, in) {
					switch e := e.(type) {
					case effect.Command:
						if e.Method == "Target.closeTarget" && e.Tag.Kind == link.TagClose {
							closed = append(closed, e.Tag.Page)
						}
					case effect.Exit:
						over = true
					}
				}
			}
			for _, in := range c.steps {
				if step(in); over {
					t.Fatalf("%T: it is gone before the pages are", in)
				}
			}
			if !slices.Equal(closed, c.close) {
				t.Errorf("closed %v, want %v", closed, c.close)
			}
			if c.close == nil {
				step(flushed)
			}
			for i, page := range closed {
				if over {
					t.Errorf("it is gone before %s is", page)
				}
				if i == 0 {
					step(effect.Replied{Tag: effect.Tag{Kind: link.TagClose, Page: page}}) // that is not the end yet
					step(decode.TargetDestroyed{Target: page})
				} else {
					step(effect.Replied{Tag: effect.Tag{Kind: link.TagClose, Page: page}, Err: refused})
				}
			}
			if over {
				t.Error("it is gone before auto-attach is off")
			}
			if step(effect.Replied{Tag: effect.Tag{Kind: link.TagOff}}); !over {
				t.Error("it stays")
			}
		})
	}
}

// TestAnAnchorGoesToTheFramesItIsToldOf: each once, and again where the frame has
// moved out of its process and back while one link had heard of it and not the other.
func TestAnAnchorGoesToTheFramesItIsToldOf(t *testing.T) {
	t.Parallel()
	cover, boxed := mail.CoverFrame{Page: "P", Frame: "F"}, mail.CoverFrame{Page: "P", Frame: "F", IsBoxKnown: true}
	attached := func(s messages.SessionID) any {
		return mail.TargetAttached{Gen: 1, Session: s, Info: mail.TargetInfo{ID: "F", Type: "iframe"}}
	}
	detached := func(s messages.SessionID) any { return mail.TargetDetached{Gen: 1, Session: s} }
	replied := func(err error) any {
		return effect.Replied{Tag: effect.Tag{Kind: link.TagCoverFrame, Page: "F"}, Err: err}
	}
	const attach = "Target.attachToTarget"
	for name, c := range map[string]struct {
		steps []any
		want  []string // methods on the browser's session, and on a frame's
	}{
		"a frame":                           {[]any{cover, attached("S"), replied(nil), boxed}, []string{attach, "S Page.enable"}},
		"one that is gone":                  {[]any{cover, replied(errors.New("no such target")), cover}, []string{attach, attach}},
		"one that comes back":               {[]any{cover, attached("S"), replied(nil), detached("S"), cover}, []string{attach, "S Page.enable", attach}},
		"one that has come back before":     {[]any{cover, attached("S"), replied(nil), cover, detached("S")}, []string{attach, "S Page.enable", attach}},
		"one that ends":                     {[]any{cover, attached("S"), replied(nil), boxed, detached("S")}, []string{attach, "S Page.enable"}},
		"of a page that is left":            {[]any{cover, attached("S"), replied(nil), mail.LeavePage{Page: "P"}}, []string{attach, "S Page.enable", "Target.detachFromTarget"}},
		"of a page that is left meanwhile":  {[]any{cover, mail.LeavePage{Page: "P"}, attached("S"), replied(nil)}, []string{attach, "Target.detachFromTarget"}},
		"while the bridge is off":           {[]any{mail.SetBridge{Epoch: 2}, cover, mail.SetBridge{IsOn: true, Epoch: 3}, cover}, []string{attach}},
		"that somebody else attached it to": {[]any{attached("S")}, []string{"Target.detachFromTarget"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := link.NewAnchor(link.Config{Gen: 1, Bridge: bridge.Settings{IsOn: true, Epoch: 1, Secret: bridge.NewSecret(sessiontest.Secret)}})
			m.Step(time.Time{}, effect.Start{})
			m.Step(time.Time{}, effect.Replied{Tag: effect.Tag{Kind: link.TagRoot}})
			var got []string
			for _, in := range c.steps {
				for _, e := range m.Step(time.Time{}, in) {
					c, ok := e.(effect.Command)
					switch {
					case !ok:
					case c.Session == "":
						got = append(got, c.Method)
					case c.Method == "Page.enable":
						got = append(got, string(c.Session)+" "+c.Method)
					}
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// TestAnAnchorIsAttachedToNothingWhenItCloses: a page that was covered on order is attached
// to once more by the command that leaves all. With a dialog in a frame of another process,
// closing it then would end the browser (C15).
func TestAnAnchorIsAttachedToNothingWhenItCloses(t *testing.T) {
	t.Parallel()
	page := mail.TargetInfo{ID: "P", Type: "page"}
	m := link.NewAnchor(link.Config{Gen: 1, Scope: messages.ScopeOwn, Owned: []messages.TargetID{"P"}, IsAlone: true})
	var attached []messages.SessionID // by the browser's account
	closed := false
	step := func(in any) {
		for _, e := range m.Step(time.Time{}, in) {
			c, ok := e.(effect.Command)
			if !ok {
				continue
			}
			switch c.Method {
			case "Target.setAutoAttach":
				if c.Tag.Kind == link.TagCalm {
					attached = append(attached, "once more")
				}
			case "Target.detachFromTarget":
				attached = slices.DeleteFunc(attached, func(s messages.SessionID) bool {
					return strings.Contains(string(c.Params), `"`+string(s)+`"`)
				})
			case "Target.closeTarget":
				closed = true
				if len(attached) > 0 {
					t.Errorf("%T: closed while attached by %s", in, attached)
				}
			}
		}
	}
	step(effect.Start{})
	step(mail.TargetAttached{Gen: 1, Session: "first", Page: "P", Info: page})
	step(effect.Replied{Tag: effect.Tag{Kind: link.TagRoot}})
	step(mail.TargetDetached{Gen: 1, Session: "first"}) // torn from us
	attached = append(attached, "on order")
	step(mail.TargetAttached{Gen: 1, Session: "on order", Page: "P", Info: page})
	step(effect.Replied{Tag: effect.Tag{Kind: link.TagCover, Page: "P"}})
	step(mail.Leave{})
	step(mail.TargetAttached{Gen: 1, Session: "once more", Page: "P", Info: page})
	step(effect.Replied{Tag: effect.Tag{Kind: link.TagCalm}})
	if !closed {
		t.Error("the page stays")
	}
}

// TestAnAnchorThatIsLeftAloneFreesFirst: it is to close a page that holds the dialog of a
// frame of another process, which ends the browser if any client is attached (C15).
func TestAnAnchorThatIsLeftAloneFreesFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		others int // how often another client is found attached
		close  []messages.TargetID
	}{
		"when nobody is attached":      {0, []messages.TargetID{"H1", "P"}},
		"when somebody leaves":         {2, []messages.TargetID{"H1", "H2", "H3", "P"}},
		"not at all if somebody stays": {1000, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := link.NewAnchor(link.Config{Gen: 1, Scope: messages.ScopeOwn, Owned: []messages.TargetID{"P"}, IsAlone: true})
			todo := []any{effect.Start{}, effect.Replied{Tag: effect.Tag{Kind: link.TagRoot}}, mail.FreeFirst{Page: "P"}, mail.Leave{}}
			var closed []messages.TargetID
			asked, helpers, over := 0, 0, false
			reply := func(c effect.Command, result string) {
				todo = append(todo, effect.Replied{Tag: c.Tag, Result: []byte(result)})
			}
			handle := func(e effect.Effect) {
				switch e := e.(type) {
				case effect.Exit:
					over = true
				case effect.Arm:
					if e.Timer.Name == "free" {
						todo = append(todo, effect.TimerFired{Timer: e.Timer})
					}
				case effect.Command:
					switch e.Method {
					case "Target.createTarget":
						helpers++
						reply(e, fmt.Sprintf(`{"targetId":"H%d"}`, helpers))
					case "Target.getTargetInfo":
						asked++
						reply(e, fmt.Sprintf(`{"targetInfo":{"targetId":"P","attached":%t}}`, asked <= c.others))
					case "Target.closeTarget":
						var p struct {
							TargetID messages.TargetID `json:"targetId"`
						}
						if err := json.Unmarshal(e.Params, &p); err != nil {
							t.Fatal(err)
						}
						closed = append(closed, p.TargetID)
						if p.TargetID == "P" {
							todo = append(todo, decode.TargetDestroyed{Target: "P"})
						}
					default:
						reply(e, `{}`)
					}
				}
			}
			for n := 0; len(todo) > 0; n++ {
				if over || n > 1000 {
					t.Fatalf("over %t after %d steps, %d left", over, n, len(todo))
				}
				in := todo[0]
				todo = todo[1:]
				for _, e := range m.Step(time.Time{}, in) {
					handle(e)
				}
			}
			if !over {
				t.Error("it stays")
			}
			if c.close == nil {
				if slices.Contains(closed, "P") || len(closed) != helpers || helpers < 2 {
					t.Errorf("closed %v of %d helpers", closed, helpers)
				}
			} else if !slices.Equal(closed, c.close) {
				t.Errorf("closed %v, want %v", closed, c.close)
			}
		})
	}
}

// TestAnAnchorCoversWhatPassesOnToIt: by requests, a page that has its Page domain enabled
// is not covered yet. What the primary left behind in that moment would reach no link.
func TestAnAnchorCoversWhatPassesOnToIt(t *testing.T) {
	t.Parallel()
	attached := func(s messages.SessionID, target messages.TargetID, kind string) any {
		return mail.TargetAttached{Gen: 1, Session: s, Page: target, Info: mail.TargetInfo{ID: target, Type: kind}}
	}
	page, root := attached("S", "P", "page"), effect.Replied{Tag: effect.Tag{Kind: link.TagRoot}}
	enabled := effect.Replied{Tag: effect.Tag{Kind: effect.TagEnabled, Page: "P", Session: "S"}}
	through := func(s messages.SessionID, seq uint32, err error) any {
		return effect.Replied{Tag: effect.Tag{Kind: bridge.TagOn, Session: s, Seq: seq}, Err: err}
	}
	passed := func(s messages.SessionID, seq uint32) any {
		return effect.Replied{Tag: effect.Tag{Kind: bridge.TagPass, Session: s, Seq: seq}}
	}
	navigated := func(s messages.SessionID, frame messages.FrameID) any {
		return wrap(s, mail.FrameNavigated{Frame: mail.FrameInfo{ID: frame}})
	}
	cover, frame := mail.CoverFrame{Page: "P", Frame: "F"}, attached("T", "F", "iframe")
	gone := effect.Replied{Tag: effect.Tag{Kind: link.TagCoverFrame, Page: "F"}, Err: errors.New("no such target")}
	requests, debugger := bridge.Settings{IsOn: true, By: mail.ByRequest, Epoch: 1}, bridge.Settings{IsOn: true, Epoch: 1}
	for name, c := range map[string]struct {
		bridge           bridge.Settings
		steps            []any
		covered, settled int // the step that has it said, from 1; 0: none
	}{
		"a page, once all is said":          {requests, []any{page, root, enabled, through("S", 1, nil), passed("S", 1)}, 5, 5},
		"in another order":                  {requests, []any{page, root, through("S", 1, nil), passed("S", 1), enabled}, 5, 5},
		"not by one of them":                {requests, []any{page, root, through("S", 1, nil), passed("S", 1)}, 0, 0},
		"nor by the next":                   {requests, []any{page, root, enabled, through("S", 1, nil)}, 0, 0},
		"nor by another arming's":           {requests, []any{page, root, enabled, through("S", 0, nil), passed("S", 0)}, 0, 0},
		"nor while a new document does not": {requests, []any{page, root, enabled, navigated("S", "P"), through("S", 1, nil), passed("S", 1), passed("S", 1)}, 7, 7},
		"in whatever order that is said":    {requests, []any{page, root, enabled, navigated("S", "P"), passed("S", 1), through("S", 1, nil), passed("S", 1)}, 7, 7},
		"but for those of its frames":       {requests, []any{page, root, enabled, navigated("S", "F"), through("S", 1, nil), passed("S", 1)}, 6, 6},
		"and those that come later":         {requests, []any{page, root, enabled, navigated("S", "P"), passed("S", 1), navigated("S", "P"), through("S", 1, nil), passed("S", 1)}, 8, 8},
		"what is refused is waited for not": {requests, []any{page, root, enabled, through("S", 1, errors.New("no")), passed("S", 1)}, 5, 5},
		"nor what is given up":              {requests, []any{page, root, enabled, mail.SetBridge{Epoch: 2}}, 4, 4},
		"nor a page that waits in a dialog": {requests, []any{page, root, effect.TimerFired{Timer: effect.Timer{Name: "settle"}}}, 0, 3},
		"the debugger passes on by itself":  {debugger, []any{page, root, enabled}, 3, 3},
		"and so do native dialogs":          {bridge.Settings{}, []any{page, root, enabled}, 3, 3},
		"a frame as well":                   {requests, []any{page, root, cover, enabled, through("S", 1, nil), passed("S", 1), frame, through("T", 1, nil), passed("T", 1)}, 6, 9},
		"and its new document":              {requests, []any{page, root, cover, enabled, through("S", 1, nil), passed("S", 1), frame, navigated("T", "F"), through("T", 1, nil), passed("T", 1), passed("T", 1)}, 6, 11},
		"but for one that is gone":          {requests, []any{page, root, cover, enabled, through("S", 1, nil), passed("S", 1), gone}, 6, 7},
		"or goes":                           {requests, []any{page, root, cover, enabled, through("S", 1, nil), passed("S", 1), frame, mail.TargetDetached{Gen: 1, Session: "T"}}, 6, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.bridge.Secret = bridge.NewSecret(sessiontest.Secret)
			m := link.NewAnchor(link.Config{Gen: 1, Scope: messages.ScopeBrowser, Bridge: c.bridge})
			m.Step(time.Time{}, effect.Start{})
			told := map[string][]int{}
			for i, in := range c.steps {
				for _, e := range m.Step(time.Time{}, in) {
					if to, ok := e.(effect.ToSupervisor); ok {
						switch to.Msg.(type) {
						case mail.PageCovered:
							told["covered"] = append(told["covered"], i+1)
						case mail.AnchorSettled:
							told["settled"] = append(told["settled"], i+1)
						}
					}
				}
			}
			for what, want := range map[string]int{"covered": c.covered, "settled": c.settled} {
				if got := told[what]; want == 0 && len(got) > 0 || want != 0 && !slices.Equal(got, []int{want}) {
					t.Errorf("%s at %v, want %d", what, got, want)
				}
			}
		})
	}
}

// TestAnAnchorKeepsCountOfRequests: a page may make up as many as it likes, and takes
// nothing from the pages beside it.
func TestAnAnchorKeepsCountOfRequests(t *testing.T) {
	t.Parallel()
	bridge := bridge.Settings{IsOn: true, By: mail.ByRequest, Epoch: 1, Secret: bridge.NewSecret(sessiontest.Secret)}
	host := "https://" + bridge.Secret.Host() + "/"
	cfg := decode.Source{Identity: effect.Identity{Role: messages.RoleAnchor, Gen: 1}, Secret: bridge.Secret}
	paused := func(page messages.TargetID, i int) any {
		return cfg.Decode(time.Time{}, "Fetch.requestPaused", fmt.Appendf(nil,
			`{"requestId":"%s-%d","frameId":"F","request":{"url":"%s%s.1-2"}}`, page, i, host, bridge.Secret.Label(page)))
	}
	m := link.NewAnchor(link.Config{Gen: 1, Scope: messages.ScopeBrowser, Bridge: bridge})
	m.Step(time.Time{}, effect.Start{})
	for _, page := range []messages.TargetID{"P", "Q"} {
		m.Step(time.Time{}, mail.TargetAttached{Gen: 1, Session: "S" + messages.SessionID(page), Page: page, Info: mail.TargetInfo{ID: page, Type: "page"}})
	}
	told, failed := 0, 0
	step := func(in any) {
		for _, e := range m.Step(time.Time{}, in) {
			switch e := e.(type) {
			case effect.ToSupervisor:
				if _, ok := e.Msg.(mail.RequestHeld); ok {
					told++
				}
			case effect.Command:
				if e.Method == "Fetch.failRequest" {
					failed++
				}
			}
		}
	}
	for i := range 2000 {
		step(paused("P", i))
	}
	if told == 0 || told > 100 || told+failed != 2000 {
		t.Errorf("of 2000 requests of a page %d are told of, and %d have failed", told, failed)
	}
	before := told
	if step(paused("Q", 0)); told != before+1 {
		t.Error("the page beside is not told of")
	}
}

// TestAnAnchorTellsAnotherDialogActorOfWhatIsLeftToIt: only the anchor knows a request of a
// frame that it has no session of.
func TestAnAnchorTellsAnotherDialogActorOfWhatIsLeftToIt(t *testing.T) {
	t.Parallel()
	bridge := bridge.Settings{IsOn: true, By: mail.ByRequest, Epoch: 1, Secret: bridge.NewSecret(sessiontest.Secret)}
	m := link.NewAnchor(link.Config{Gen: 1, Scope: messages.ScopeBrowser, Bridge: bridge})
	m.Step(time.Time{}, effect.Start{})
	held := mail.RequestHeld{Role: messages.RoleAnchor, Gen: 1, Label: "nobody's", Key: "1-2", Frame: "F", Request: "job", IsUnspoken: true}
	want := effect.Effect(effect.ToDialog{Msg: mail.DialogOpened{
		Role: messages.RoleAnchor, Gen: 1, Frame: "F",
		Pause: mail.Pause{Key: "1-2", Request: "job", Holder: messages.RoleAnchor, HolderGen: 1},
	}})
	for _, in := range []any{held, effect.TellAgain{}, effect.TellAgain{}} {
		if out := m.Step(time.Time{}, in); !slices.Contains(out, want) {
			t.Errorf("after %+v: %+v", in, out)
		}
	}
	m.Step(time.Time{}, mail.HandleDialog{Pause: mail.Pause{Key: "1-2", Request: "job", Holder: messages.RoleAnchor, HolderGen: 1}})
	if out := m.Step(time.Time{}, effect.TellAgain{}); len(out) != 0 {
		t.Errorf("after its end: %+v", out)
	}
}

// An answer owes its outcome, also where the session ends by which it went: until then no
// other session can answer the dialog.
func TestAnAnchorTellsWhatBecameOfAnAnswerWhoseSessionHasEnded(t *testing.T) {
	t.Parallel()
	attached := mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}}
	frame := mail.TargetAttached{Gen: 1, Session: "T", Page: "F", Info: mail.TargetInfo{ID: "F", Type: "iframe"}}
	root, cover := effect.Replied{Tag: effect.Tag{Kind: link.TagRoot}}, mail.CoverFrame{Page: "P", Frame: "F"}
	detached := func(s messages.SessionID) any { return mail.TargetDetached{Gen: 1, Session: s} }
	lost := errors.New("the session ended before the answer came")
	taken := []byte(`{"result":{"value":true}}`)
	reply := func(kind effect.TagKind, s messages.SessionID, result []byte, err error) any {
		return effect.Replied{Tag: effect.Tag{Kind: kind, Session: s, ID: "d-1"}, Result: result, Err: err}
	}
	for name, c := range map[string]struct {
		session messages.SessionID
		steps   []any // after the answer
	}{
		"a page's":                     {"S", []any{detached("S"), reply(bridge.TagAnswer, "S", nil, lost)}},
		"a frame's":                    {"T", []any{detached("T"), reply(bridge.TagAnswer, "T", nil, lost)}},
		"one that the anchor has left": {"S", []any{mail.LeavePage{Page: "P"}, reply(bridge.TagAnswer, "S", nil, lost)}},
		"before the call went on":      {"S", []any{reply(bridge.TagAnswer, "S", taken, nil), detached("S"), reply(bridge.TagResume, "S", nil, lost)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := link.NewAnchor(link.Config{
				Gen: 1, Scope: messages.ScopeBrowser, IsAlone: true, Bridge: bridge.Settings{IsOn: true, Epoch: 1, Secret: bridge.NewSecret(sessiontest.Secret)},
			})
			answer := mail.HandleDialog{Dialog: "d-1", Session: c.session, Page: "P", MustAccept: true, Pause: mail.Pause{Key: "k", CallFrame: "1.1.0"}}
			var told []mail.DialogHandled
			for _, in := range append([]any{effect.Start{}, attached, root, cover, frame, answer}, c.steps...) {
				for _, e := range m.Step(time.Time{}, in) {
					if to, ok := e.(effect.ToDialog); ok {
						if h, ok := to.Msg.(mail.DialogHandled); ok {
							told = append(told, h)
						}
					}
				}
			}
			if len(told) != 1 || told[0].Dialog != "d-1" || told[0].Session != c.session || messages.CodeOf(told[0].Err) != messages.CodeUpstreamUnavailable {
				t.Errorf("told %+v", told)
			}
		})
	}
}

// wrap is an event of one of the anchor's sessions.
func wrap(s messages.SessionID, event any) link.FromFrame {
	return link.FromFrame{Session: s, Event: event}
}
