package task_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// ordered are the orders among effects, by what they mean for the page.
func ordered(effects []step.Effect) (names []string) {
	for _, e := range effects {
		switch e := e.(type) {
		case step.ShutTab:
			names = append(names, "close")
		case step.ToBrowser:
			switch e.Msg.(type) {
			case mail.ReleasePage:
				names = append(names, "release")
			case mail.ReattachPage:
				names = append(names, "reattach")
			}
		case step.ToSession:
			if _, ok := e.Msg.(mail.ReloadPage); ok {
				names = append(names, "reload")
			}
		}
	}
	return names
}

// lose has the dialog actor say that a dialog of frame f was lost on page P.
func (b *bench) lose(f messages.FrameID, typ messages.DialogType) {
	b.Helper()
	b.step(mail.DialogsChanged{Closed: &messages.ClosedDialog{TargetID: "P", FrameID: f, Type: typ, ClosedBy: messages.ClosedByLost}})
}

func (b *bench) health(s messages.PageState) []step.Effect {
	b.Helper()
	return b.step(mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: s})
}

func (b *bench) pageState() messages.PageState { return b.m.Snapshot().PageState }

func TestWhatIsDoneAboutAWedge(t *testing.T) {
	t.Parallel()
	states := []messages.PageState{messages.PageDialogUnreachable, messages.PageCrashed, messages.PageHung, messages.PagePaused}
	want := map[messages.OnWedge][]string{
		messages.OnWedgeReport:  {"", "", "", ""},
		messages.OnWedgeRelease: {"release", "", "", ""},
		messages.OnWedgeReload:  {"reload", "reload", "reload", ""},
		messages.OnWedgeClose:   {"close", "close", "close", ""},
	}
	for on, orders := range want {
		for i, state := range states {
			t.Run(fmt.Sprintf("%s, %s", on, state), func(t *testing.T) {
				t.Parallel()
				b := attached(t)
				b.step(mail.UpdateSpec{Spec: messages.TaskSpec{OnWedge: on, Anchor: messages.AnchorNone}.WithDefaults()})
				var expect []string
				if orders[i] != "" {
					expect = []string{orders[i]}
				}
				got := ordered(b.health(state))
				if state != messages.PageCrashed {
					// Silence has to last.
					if len(got) > 0 {
						t.Errorf("ordered %v at once", got)
					}
					b.now = b.now.Add(messages.DefaultOnWedgeAfter)
					got = ordered(b.step(step.TimerFired{Name: "wedge:P"}))
				}
				if !slices.Equal(got, expect) {
					t.Errorf("ordered %v, want %v", got, expect)
				}
				if got := ordered(b.health(state)); len(got) > 0 {
					t.Errorf("ordered %v a second time", got)
				}
			})
		}
	}
}

// What is only busy is not recovered by force, nor what has never answered.
func TestOnWedgeIsPatient(t *testing.T) {
	t.Parallel()
	reload := messages.TaskSpec{OnWedge: messages.OnWedgeReload, OnWedgeAfterS: 7, Anchor: messages.AnchorNone}.WithDefaults()
	fires := func(b *bench, after time.Duration) []string {
		b.now = b.now.Add(after)
		return ordered(b.step(step.TimerFired{Name: "wedge:P"}))
	}
	t.Run("an answer begins the silence anew", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, reload)
		b.health(messages.PageHung)
		b.now = b.now.Add(6 * time.Second)
		b.health(messages.PageOK)
		b.health(messages.PageHung)
		if got := fires(b, time.Second); len(got) > 0 {
			t.Errorf("ordered %v", got)
		}
		if got := fires(b, 6*time.Second); !slices.Equal(got, []string{"reload"}) {
			t.Errorf("ordered %v", got)
		}
	})
	t.Run("a page that has never answered is left", func(t *testing.T) {
		t.Parallel()
		b := &bench{T: t, m: machineOf(reload), now: time.Unix(1000, 0)}
		b.step(step.BrowserStarting{Gen: 1})
		b.step(mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
		b.step(mail.RootAttached{Gen: 1, Pages: []messages.TargetID{"P"}})
		b.health(messages.PageHung)
		b.step(mail.SessionReady{Gen: 1, Session: "S", Target: "P", IsBlocked: true})
		if got := fires(b, time.Hour); len(got) > 0 {
			t.Errorf("ordered %v", got)
		}
	})
	t.Run("one that is between two documents is replaced instead of reloaded", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, reload)
		b.step(mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageHung, IsStranded: true})
		b.now = b.now.Add(7 * time.Second)
		effects := b.step(step.TimerFired{Name: "wedge:P"})
		if !has[step.ReplaceTab](effects) || len(ordered(effects)) > 0 {
			t.Errorf("ordered %+v", effects)
		}
	})
	t.Run("a spec that comes later counts from when the page fell silent", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		b.health(messages.PageHung)
		b.now = b.now.Add(time.Minute)
		if got := ordered(b.step(mail.UpdateSpec{Spec: reload})); !slices.Equal(got, []string{"reload"}) {
			t.Errorf("ordered %v", got)
		}
	})
}

func TestALostDialog(t *testing.T) {
	t.Parallel()
	t.Run("is forgotten when its frame answers", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		b.lose("P", "alert")
		b.step(mail.PageUnreachable{Page: "P"})
		if b.pageState() != messages.PageDialogUnreachable {
			t.Fatalf("the page is %s", b.pageState())
		}
		b.health(messages.PageOK)
		if b.pageState() != messages.PageOK {
			t.Errorf("the page is %s", b.pageState())
		}
	})
	t.Run("has the page released when its frame is gone", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		b.step(mail.UpdateSpec{Spec: messages.TaskSpec{Anchor: messages.AnchorNone}.WithDefaults()})
		b.step(mail.TargetAttached{Gen: 1, Session: "F1", Via: "S", Page: "P", Info: mail.TargetInfo{ID: "F", Type: "iframe"}})
		b.step(mail.SessionReady{Gen: 1, Session: "F1", Target: "F"})
		tree := &messages.FrameTree{Children: []messages.FrameNode{{FrameID: "F", ParentFrameID: "P", IsOOPIF: true, SessionID: "F1"}}}
		b.step(mail.FramesChanged{Gen: 1, Page: "P", Tree: tree})
		b.lose("F", "alert")
		b.step(mail.SessionHealth{Gen: 1, Session: "F1", Page: "P", State: messages.PageDialogUnreachable})
		if b.pageState() != messages.PageDialogUnreachable {
			t.Fatalf("the page is %s", b.pageState())
		}
		// Its session ends before the tree is told: that is no sign of life.
		b.step(mail.TargetDetached{Gen: 1, Session: "F1", Via: "S"})
		b.step(mail.FramesChanged{Gen: 1, Page: "P", Tree: &messages.FrameTree{}})
		if got := ordered(b.step(step.TimerFired{Name: "release:P"})); !slices.Equal(got, []string{"release"}) {
			t.Errorf("ordered %v", got)
		}
	})
	t.Run("is not taken for gone that is below a frame which cannot tell of it", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		b.step(mail.UpdateSpec{Spec: messages.TaskSpec{Anchor: messages.AnchorNone}.WithDefaults()})
		b.step(mail.TargetAttached{Gen: 1, Session: "F1", Via: "S", Page: "P", Info: mail.TargetInfo{ID: "F", Type: "iframe"}})
		b.step(mail.FramesChanged{Gen: 1, Page: "P", Tree: &messages.FrameTree{Children: []messages.FrameNode{{FrameID: "F", ParentFrameID: "P", IsOOPIF: true, SessionID: "F1"}}}})
		b.lose("C", "alert") // a child of F, in its process
		b.step(mail.SessionHealth{Gen: 1, Session: "F1", Page: "P", State: messages.PageDialogUnreachable})
		b.step(mail.SessionReady{Gen: 1, Session: "F1", Target: "F", IsBlocked: true})
		b.health(messages.PageOK)
		if got := ordered(b.step(step.TimerFired{Name: "release:P"})); len(got) > 0 || b.pageState() != messages.PageDialogUnreachable {
			t.Errorf("ordered %v, the page is %s", got, b.pageState())
		}
	})
	t.Run("has its page released as soon as another recovery lets it", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		b.step(mail.UpdateSpec{Spec: messages.TaskSpec{Anchor: messages.AnchorNone}.WithDefaults()})
		b.health(messages.PageCrashed)
		b.step(mail.RecoverPage{Request: messages.RecoverRequest{Action: messages.RecoverReload}, Reply: calls.Open(func(any, error) {})})
		b.step(mail.PageUnreachable{Page: "P", IsPoisoned: true})
		if got := ordered(b.step(step.TimerFired{Name: "release:P"})); len(got) > 0 {
			t.Fatalf("ordered %v", got)
		}
		b.step(mail.PageReloaded{Gen: 1, Session: "S", Page: "P", Err: errors.New("no")})
		if got := ordered(b.step(step.TimerFired{Name: "release:P"})); !slices.Equal(got, []string{"release"}) {
			t.Errorf("ordered %v", got)
		}
	})
	t.Run("of a kind that nothing dismisses is not released", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		b.step(mail.UpdateSpec{Spec: messages.TaskSpec{OnWedge: messages.OnWedgeRelease, Anchor: messages.AnchorNone}.WithDefaults()})
		b.lose("P", "beforeunload")
		if got := ordered(b.health(messages.PageDialogUnreachable)); len(got) > 0 {
			t.Errorf("ordered %v", got)
		}
	})
}

// Whatever happens in whatever order: who asked has one answer, and none twice;
// a poisoned page is not touched by anything that would end the browser (C15);
// an answer comes behind what is published with it.
func TestEveryRecoveryHasOneOutcome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var (
			m        = machineOf(messages.TaskSpec{OnWedge: rapid.SampledFrom([]messages.OnWedge{"report", "release", "reload", "close"}).Draw(t, "on_wedge"), OnWedgeAfterS: 5, Anchor: messages.AnchorNone}.WithDefaults())
			now      = time.Unix(1000, 0)
			gen      = mail.Generation(0)
			session  = 0
			asked    = 0
			answered = map[int]int{}
			timers   = map[string]bool{}
			poisoned = false
			up       = false
		)
		tell := func(in any) {
			told := false
			for _, e := range slices.Clone(m.Step(now, in)) {
				switch e := e.(type) {
				case step.Publish:
					if told {
						t.Fatal("an answer came before what it follows from")
					}
				case step.Answer:
					told = told || e.Value != nil
					calls.Answer(e.To, e.Value, e.Err)
				case step.Arm:
					timers[e.Name] = true
				case step.ToSession:
					if _, ok := e.Msg.(mail.ReloadPage); ok && poisoned {
						t.Fatal("a poisoned page is reloaded")
					}
				}
			}
		}
		attach := func() {
			session++
			s := messages.SessionID(fmt.Sprint("S", session))
			tell(mail.TargetAttached{Gen: gen, Session: s, Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
		}
		ready := func() {
			tell(mail.SessionReady{Gen: gen, Session: messages.SessionID(fmt.Sprint("S", session)), Target: "P", IsBlocked: rapid.Bool().Draw(t, "blocked")})
		}
		link := func() {
			gen++
			up = true
			tell(step.BrowserStarting{Gen: gen})
			attach()
			tell(mail.RootAttached{Gen: gen, Pages: []messages.TargetID{"P"}})
			ready()
		}
		link()
		current := func() messages.SessionID { return messages.SessionID(fmt.Sprint("S", session)) }
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				n := asked
				asked++
				tell(mail.RecoverPage{
					Request: messages.RecoverRequest{Action: rapid.SampledFrom(messages.RecoverActions()).Draw(t, "action")},
					Reply:   calls.Open(func(any, error) { answered[n]++ }),
				})
			},
			"health": func(t *rapid.T) {
				tell(mail.SessionHealth{Gen: gen, Session: current(), Page: "P", IsPage: true, State: rapid.SampledFrom([]messages.PageState{
					messages.PageOK, messages.PageCrashed, messages.PageHung, messages.PageDialogUnreachable, messages.PagePaused,
				}).Draw(t, "state")})
			},
			"lost": func(t *rapid.T) {
				tell(mail.DialogsChanged{Closed: &messages.ClosedDialog{
					TargetID: "P", FrameID: rapid.SampledFrom([]messages.FrameID{"P", "F"}).Draw(t, "frame"),
					Type: rapid.SampledFrom([]messages.DialogType{"alert", "beforeunload"}).Draw(t, "type"), ClosedBy: messages.ClosedByLost,
				}})
			},
			"poison": func(t *rapid.T) {
				poisoned = len(m.Snapshot().Pages) > 0
				tell(mail.PageUnreachable{Page: "P", IsPoisoned: true})
			},
			"released": func(t *rapid.T) {
				if up && len(m.Snapshot().Pages) > 0 {
					poisoned = false
					tell(mail.TargetDetached{Gen: gen, Session: current()})
					attach()
					tell(mail.PageReleased{Gen: gen, Page: "P"})
					ready()
				}
			},
			"reattached": func(t *rapid.T) {
				if up && len(m.Snapshot().Pages) > 0 {
					tell(mail.TargetDetached{Gen: gen, Session: current()})
					attach()
					ready()
				}
			},
			"reloaded": func(t *rapid.T) {
				var err error
				if rapid.Bool().Draw(t, "fails") {
					err = messages.Errorf(messages.CodeCDPError, "no")
				} else if !poisoned {
					tell(mail.PageNavigated{Gen: gen, Page: "P", URL: "http://a/"})
				}
				tell(mail.PageReloaded{Gen: gen, Session: current(), Page: "P", Err: err})
			},
			"shut": func(t *rapid.T) {
				if rapid.Bool().Draw(t, "fails") {
					tell(step.PageShut{Page: "P", Err: errors.New("no")})
					return
				}
				poisoned = false
				tell(mail.PageClosed{Gen: gen, Page: "P"})
				tell(step.PageShut{Page: "P"})
			},
			"again": func(t *rapid.T) {
				if up && len(m.Snapshot().Pages) == 0 {
					attach()
					ready()
				}
			},
			"time": func(t *rapid.T) {
				if len(timers) == 0 {
					return
				}
				var names []string
				for name := range timers {
					names = append(names, name)
				}
				slices.Sort(names)
				name := rapid.SampledFrom(names).Draw(t, "timer")
				delete(timers, name)
				now = now.Add(time.Second)
				tell(step.TimerFired{Name: name})
			},
			"link": func(t *rapid.T) {
				if up {
					up = false
					tell(step.BrowserExited{Err: errors.New("gone")})
					return
				}
				link()
			},
			"": func(t *rapid.T) {
				for n, times := range answered {
					if times > 1 {
						t.Fatalf("order %d has %d answers", n, times)
					}
				}
			},
		})
		for _, e := range m.End(messages.StateStopped, nil) {
			if a, ok := e.(step.Answer); ok {
				calls.Answer(a.To, a.Value, a.Err)
			}
		}
		for n := range asked {
			if answered[n] != 1 {
				t.Fatalf("order %d has %d answers", n, answered[n])
			}
		}
	})
}
