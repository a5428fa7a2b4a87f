package link_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/actors/session/sessiontest"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// anchorWorld is a naive account of what an anchor is attached to.
type anchorWorld struct {
	*rapid.T
	m     beside
	n     int
	live  map[messages.SessionID]*anchorSession
	root  []effect.Command // without a reply
	leave map[messages.TargetID]int
	asked map[messages.DialogID]bool
	timer []effect.Timer
	over  bool

	isStopping, isOff bool                       // auto-attach
	late              map[messages.TargetID]bool // held as it was being turned off
}

type anchorSession struct {
	page             messages.TargetID
	held, elsewhere  bool
	watched, resumed bool
	leaving          bool // a detach is under way
	frame            messages.TargetID
	isOrdered        bool // else by auto-attach
}

func (w *anchorWorld) step(in any) {
	for _, e := range w.m.Step(time.Time{}, in) {
		switch e := e.(type) {
		case effect.Command:
			w.command(e)
		case effect.ToDialog:
			switch f := e.Msg.(type) {
			case mail.PageWatched:
				s := w.live[f.Session]
				if s == nil || s.page != f.Page || s.leaving {
					w.Fatalf("watches %s on session %s, which is %+v", f.Page, f.Session, s)
				}
				s.watched = true
			case mail.DialogHandled:
				delete(w.asked, f.Dialog)
			}
		case effect.ToSupervisor:
			if f, ok := e.Msg.(mail.PageLeft); ok {
				w.leave[f.Page]--
			}
		case effect.Arm:
			if e.Timer.Name == "free" {
				w.timer = append(w.timer, e.Timer)
			}
		case effect.Exit:
			w.over = true
		}
	}
}

func (w *anchorWorld) command(c effect.Command) {
	if c.Session != "" {
		s := w.live[c.Session]
		if s == nil {
			w.Fatalf("%s on %s, which has ended", c.Method, c.Session)
		}
		switch c.Method {
		case "Target.setAutoAttach":
			w.Fatalf("%s on %s takes away what others hold (C33)", c.Method, c.Session)
		case "Page.enable":
			s.watched = s.watched || s.frame != ""
		case "Runtime.runIfWaitingForDebugger":
			s.resumed = true
			delete(w.late, s.page)
		case "Page.handleJavaScriptDialog":
			w.root = append(w.root, c)
		}
		return
	}
	if c.Method == "Target.detachFromTarget" {
		var p struct {
			SessionID messages.SessionID `json:"sessionId"`
		}
		if err := json.Unmarshal(c.Params, &p); err != nil {
			w.Fatal(err)
		}
		s := w.live[p.SessionID]
		switch {
		case s == nil:
			w.Fatalf("detaches %s, which has ended", p.SessionID)
		case s.held && !s.resumed && !s.elsewhere && !w.another(s):
			w.Fatalf("leaves %s while it is held (C33)", s.page)
		}
		s.leaving = true
	}
	if c.Method == "Target.setAutoAttach" {
		w.isStopping = c.Tag.Kind == link.TagOff
	}
	w.root = append(w.root, c)
}

// another says that a page has a second session of the anchor's, whose business
// it is to let it run.
func (w *anchorWorld) another(s *anchorSession) bool {
	for _, o := range w.live {
		if o != s && o.page == s.page {
			return true
		}
	}
	return false
}

func (w *anchorWorld) attach(page messages.TargetID, opener messages.TargetID, held, reaches bool) {
	w.n++
	id := messages.SessionID(fmt.Sprintf("S%d", w.n))
	isLate := w.isStopping && !w.isOff
	w.live[id] = &anchorSession{page: page, held: held, elsewhere: held && reaches && opener == "X", isOrdered: w.isOff}
	if isLate {
		w.late[page] = true
	}
	w.step(mail.TargetAttached{
		Gen: 1, Session: id, IsWaiting: held,
		Info: mail.TargetInfo{ID: page, Type: "page", Opener: opener, CanAccessOpener: reaches},
	})
	if s := w.live[id]; !s.watched && !s.leaving && !isLate {
		w.Fatalf("%s on %s is neither watched nor left", id, page)
	}
}

// attachFrame is a frame of the page that its name says.
func (w *anchorWorld) attachFrame(frame messages.TargetID) {
	w.n++
	id := messages.SessionID(fmt.Sprintf("S%d", w.n))
	w.live[id] = &anchorSession{page: frame[1:2], frame: frame}
	w.step(mail.TargetAttached{Gen: 1, Session: id, Info: mail.TargetInfo{ID: frame, Type: "iframe"}})
	if s := w.live[id]; !s.watched && !s.leaving {
		w.Fatalf("%s on %s is neither bridged nor left", id, frame)
	}
}

// reply answers the oldest command on the browser's session, doing first what it
// asks for.
func (w *anchorWorld) reply(fail bool) {
	c := w.root[0]
	w.root = w.root[1:]
	r := effect.Replied{Tag: c.Tag}
	switch c.Method {
	case "Target.detachFromTarget":
		var p struct {
			SessionID messages.SessionID `json:"sessionId"`
		}
		if err := json.Unmarshal(c.Params, &p); err != nil {
			w.Fatal(err)
		}
		delete(w.live, p.SessionID)
		w.step(mail.TargetDetached{Gen: 1, Session: p.SessionID})
	case "Target.createTarget":
		if fail {
			r.Err = messages.Errorf(messages.CodeCDPError, "no")
		} else {
			w.n++
			r.Result = fmt.Appendf(nil, `{"targetId":"H%d"}`, w.n)
		}
	case "Target.getTargetInfo":
		r.Result = fmt.Appendf(nil, `{"targetInfo":{"attached":%t}}`, fail)
	case "Target.attachToTarget":
		var p struct {
			TargetID messages.TargetID `json:"targetId"`
		}
		if err := json.Unmarshal(c.Params, &p); err != nil {
			w.Fatal(err)
		}
		switch {
		case fail:
			r.Err = messages.Errorf(messages.CodeCDPError, "No target with given id found")
			delete(w.late, p.TargetID) // it has ended
		case strings.HasPrefix(string(p.TargetID), "F"):
			w.attachFrame(p.TargetID)
		default:
			w.attach(p.TargetID, "", false, false)
			w.live[messages.SessionID(fmt.Sprintf("S%d", w.n))].isOrdered = true
		}
	case "Target.setAutoAttach":
		if c.Tag.Kind == link.TagOff {
			w.off()
		}
	}
	w.step(r)
	if c.Method == "Target.closeTarget" {
		w.step(decode.TargetDestroyed{Target: c.Tag.Page})
	}
}

// off ends the sessions that auto-attach has made.
func (w *anchorWorld) off() {
	w.isOff = true
	for _, id := range slices.Sorted(maps.Keys(w.live)) {
		if s := w.live[id]; s.frame == "" && !s.isOrdered {
			delete(w.live, id)
			w.step(mail.TargetDetached{Gen: 1, Session: id})
		}
	}
}

func TestAnchorWatchesOrLeaves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &anchorWorld{
			T: t, live: map[messages.SessionID]*anchorSession{}, leave: map[messages.TargetID]int{}, asked: map[messages.DialogID]bool{}, late: map[messages.TargetID]bool{},
			m: beside{link.NewAnchor(link.Config{
				Gen: 1, Owned: []messages.TargetID{"A"}, IsAlone: rapid.Bool().Draw(t, "alone"),
				Bridge: bridge.Settings{IsOn: rapid.Bool().Draw(t, "bridge"), Epoch: 1, Secret: bridge.NewSecret(sessiontest.Secret)},
				Scope:  rapid.SampledFrom([]messages.Scope{messages.ScopeOwn, messages.ScopeBrowser}).Draw(t, "scope"),
			})},
		}
		w.step(effect.Start{})
		pages := []messages.TargetID{"A", "B", "C", "X"}
		page := func() messages.TargetID { return rapid.SampledFrom(pages).Draw(t, "page") }
		t.Repeat(map[string]func(*rapid.T){
			"attach": func(t *rapid.T) {
				held := rapid.Bool().Draw(t, "held")
				w.attach(page(), rapid.SampledFrom(append(pages, "")).Draw(t, "opener"), held, rapid.Bool().Draw(t, "reaches"))
			},
			"reply": func(t *rapid.T) {
				if len(w.root) > 0 {
					w.reply(rapid.Bool().Draw(t, "fail"))
				}
			},
			"end of a session": func(t *rapid.T) {
				for n := w.n; n > 0; n-- {
					id := messages.SessionID(fmt.Sprintf("S%d", n))
					if s := w.live[id]; s != nil && !s.leaving {
						delete(w.live, id)
						w.step(mail.TargetDetached{Gen: 1, Session: id})
						return
					}
				}
			},
			"cover": func(*rapid.T) { w.step(mail.CoverPage{Page: page()}) },
			"cover a frame": func(t *rapid.T) {
				p := page()
				w.step(mail.CoverFrame{Page: p, Frame: "F" + p + rapid.SampledFrom([]messages.TargetID{"", "2"}).Draw(t, "frame"), IsBoxKnown: rapid.Bool().Draw(t, "boxed")})
			},
			"leave a page": func(*rapid.T) {
				p := page()
				w.leave[p]++
				w.step(mail.LeavePage{Page: p})
				for id, s := range w.live {
					if s.page == p && s.watched && !s.leaving {
						w.Fatalf("session %s stays on %s, which is left", id, p)
					}
				}
			},
			"resume":  func(*rapid.T) { w.step(mail.ResumePage{Page: page()}) },
			"primary": func(t *rapid.T) { w.primary(rapid.Bool().Draw(t, "up")) },
			"dialog": func(t *rapid.T) {
				w.n++
				d := messages.NewDialogID(uint64(w.n))
				w.asked[d] = true
				w.step(mail.HandleDialog{Dialog: d, Page: page(), Session: messages.SessionID(fmt.Sprintf("S%d", rapid.IntRange(1, w.n).Draw(t, "session")))})
			},
		})
		if rapid.Bool().Draw(t, "held") {
			w.step(mail.FreeFirst{Page: "A"})
		}
		w.step(mail.Leave{})
		for id, s := range w.live {
			if s.watched && !s.leaving {
				w.Fatalf("session %s on %s is not left at the end", id, s.page)
			}
		}
		for len(w.root)+len(w.timer) > 0 {
			if w.isStopping && !w.isOff && rapid.Bool().Draw(t, "late") {
				w.n++
				w.attach(messages.TargetID(fmt.Sprintf("L%d", w.n)), "", true, false)
				continue
			}
			if len(w.root) > 0 {
				w.reply(rapid.Bool().Draw(t, "fail at the end"))
				continue
			}
			timer := w.timer[0]
			w.timer = w.timer[1:]
			w.step(effect.TimerFired{Timer: timer})
		}
		if !w.over {
			w.Fatal("the link does not end")
		}
		for p, n := range w.leave {
			if n != 0 {
				w.Fatalf("%d orders to leave %s have no answer", n, p)
			}
		}
		if len(w.late) > 0 {
			w.Fatalf("left frozen (C33): %v", w.late)
		}
		if len(w.asked) > 0 {
			w.Fatalf("answers without an outcome: %v", w.asked)
		}
	})
}

// primary says whether the primary stands. Without it no other link resumes pages.
func (w *anchorWorld) primary(up bool) {
	w.step(mail.PrimaryUp{IsUp: up})
	for id, s := range w.live {
		if !up && s.held && s.watched && !s.leaving && !s.resumed {
			w.Fatalf("session %s holds %s, and nobody else lets it run", id, s.page)
		}
	}
}
