package node_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// exposition is what Prometheus would read of the node.
func (w *world) exposition() string {
	w.Helper()
	synctest.Wait()
	out := httptest.NewRecorder()
	w.node.MetricsHandler().ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return out.Body.String()
}

func (w *world) wantMetrics(want ...string) {
	w.Helper()
	lines := strings.Split(w.exposition(), "\n")
	for _, s := range want {
		if !slices.Contains(lines, s) {
			name, _, _ := strings.Cut(s, " ")
			i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+" ") })
			if i < 0 {
				w.Errorf("there is no %s", name)
				continue
			}
			w.Errorf("%s, want %s", lines[i], s)
		}
	}
}

func TestOutcomesOfTasksAreCounted(t *testing.T) {
	t.Parallel()
	inWorld(t, "each by what ended it", chaos.Options{Seed: 1, Pages: 1}, func(w *world) {
		stop := func(id messages.TaskID) {
			if err := w.node.StopTask(w.ctx, id); err != nil {
				w.Error(err)
			}
		}
		w.start("stopped")
		stop("stopped")
		w.start("idle", func(s *messages.TaskSpec) { s.IdleTimeoutS = 5 })
		time.Sleep(10 * time.Second)
		w.start("old", func(s *messages.TaskSpec) { s.MaxLifeS = 5 })
		time.Sleep(10 * time.Second)
		w.start("moved")
		w.start("moved", func(s *messages.TaskSpec) { s.Scope, s.TargetID = messages.ScopeTarget, w.b.Pages()[0].Target })
		w.b.RefuseConnections(true)
		_, _, err := w.node.GetOrStart(w.ctx, "failed", w.spec())
		w.want(messages.CodeUpstreamUnavailable, err)
		w.b.DropConnections()
		time.Sleep(10 * time.Minute)
		w.b.RefuseConnections(false)
		w.start("drained")
		if err := w.node.Stop(w.ctx); err != nil {
			w.Error(err)
		}
		w.wantMetrics(
			`holdfast_tasks_total{outcome="stopped"} 1`, `holdfast_tasks_total{outcome="idle_timeout"} 1`,
			`holdfast_tasks_total{outcome="max_life"} 1`, `holdfast_tasks_total{outcome="rebound"} 1`,
			`holdfast_tasks_total{outcome="failed"} 1`, `holdfast_tasks_total{outcome="lost"} 1`,
			`holdfast_tasks_total{outcome="drained"} 1`,
			`holdfast_actor_restart_budget_exhausted_total{kind="browser"} 1`,
			`holdfast_draining 1`, `holdfast_actor_exits_total{reason="panic"} 0`, `holdfast_dead_letters_total{when="late"} 0`,
		)
		for _, kind := range []string{"registry", "supervisor", "browser", "session", "dialog", "frame", "anchor"} {
			w.wantMetrics(`holdfast_actors{kind="` + kind + `"} 0`)
		}
	})
}

func TestTimesAreCounted(t *testing.T) {
	t.Parallel()
	inWorld(t, "of a page that failed, a dialog, a start", chaos.Options{Seed: 1, Pages: 1}, func(w *world) {
		w.start("one", everything)
		page := w.b.Pages()[0].Target
		w.b.Crash(page)
		w.snapshot("one")
		time.Sleep(30 * time.Second)
		if _, err := w.node.Recover(w.ctx, "one", messages.RecoverRequest{Action: messages.RecoverReload}); err != nil {
			w.Fatal(err)
		}
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://other.test/")
		synctest.Wait()
		w.b.OpenDialog(frame, chaos.Prompt, "?", "")
		d := w.snapshot("one").PendingDialogs[0]
		time.Sleep(time.Minute)
		w.wantMetrics(`holdfast_dialogs_pending 1`, `holdfast_dialog_oldest_age_seconds 60`, `holdfast_dialog_watchdog_ratio 0.2`)
		answer := messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID}
		if _, err := w.node.Respond(w.ctx, "one", answer); err != nil {
			w.Fatal(err)
		}
		_, err := w.node.Respond(w.ctx, "one", answer)
		w.want(messages.CodeDialogAlreadyAnswered, err)
		// A page that is closed ends its state, too.
		w.b.Crash(page)
		w.snapshot("one")
		time.Sleep(5 * time.Second)
		w.b.ClosePage(page)
		w.wantMetrics(
			`holdfast_page_wedge_seconds_bucket{cause="crashed",le="1"} 0`, `holdfast_page_wedge_seconds_bucket{cause="crashed",le="10"} 1`,
			`holdfast_page_wedge_seconds_bucket{cause="crashed",le="60"} 2`, `holdfast_page_wedges_total{cause="crashed"} 2`,
			`holdfast_dialogs_opened_total{frame="oopif",path="native",type="prompt"} 1`,
			`holdfast_dialog_detect_seconds_count 1`, `holdfast_dialog_answer_seconds_count 1`, `holdfast_dialog_late_answers_total 1`,
			`holdfast_task_start_duration_seconds_count{kind="attach"} 1`, `holdfast_dialogs_pending 0`,
		)
	})
}

// TestAWatcherThatFellBehindIsCounted, and one that only begins is not.
func TestAWatcherThatFellBehindIsCounted(t *testing.T) {
	t.Parallel()
	inWorld(t, "once", chaos.Options{Seed: 1, Pages: 1}, func(w *world) {
		w.start("one", everything)
		watch, err := w.node.Watch(w.ctx, "one", 0, false)
		if err != nil {
			w.Fatal(err)
		}
		defer watch.Close()
		for range 2 {
			events, err := watch.Next(w.ctx)
			if err != nil || events[0].Type != messages.EventReset {
				w.Fatalf("%v, %v", events, err)
			}
			for range 1000 {
				w.b.LogError(w.b.MainFrame(w.b.Pages()[0].Target), "trouble")
				synctest.Wait()
			}
		}
		w.wantMetrics(`holdfast_shed_total{bound="event_ring"} 1`)
	})
}

// TestNothingOfATaskIsInTheMetrics: not its name, its labels, its addresses, its
// browser's, nor what its pages say.
func TestNothingOfATaskIsInTheMetrics(t *testing.T) {
	t.Parallel()
	const poison = "p0is0n"
	inWorld(t, "whatever it does", chaos.Options{Seed: 1, Pages: 1}, func(w *world) {
		id := messages.TaskID(poison)
		w.start(id, everything, func(s *messages.TaskSpec) { s.Labels = map[string]string{poison: poison} })
		page := w.b.Pages()[0].Target
		if _, err := w.node.Navigate(w.ctx, id, messages.NavigateRequest{URL: "http://" + poison + ".test/" + poison}); err != nil {
			w.Fatal(err)
		}
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://other."+poison+".test/")
		w.b.LogError(frame, poison)
		w.b.ThrowException(frame, strings.Repeat(poison, 1000))
		_, err := w.node.CDP(w.ctx, id, messages.CDPRequest{Method: poison + "." + poison, Params: []byte(`{"` + poison + `":1}`)})
		w.want(messages.CodeCDPError, err)
		w.b.OpenDialog(frame, chaos.Prompt, poison, poison)
		w.snapshot(id)
		text := poison
		if _, err := w.node.Respond(w.ctx, id, messages.DialogAnswer{Action: messages.ActionAccept, PromptText: &text}); err != nil {
			w.Fatal(err)
		}
		_, _, err = w.node.GetOrStart(w.ctx, poison+"-2", messages.TaskSpec{CDPURL: w.at("ws://127.0.0.1:1/" + poison)})
		w.want(messages.CodeUpstreamUnavailable, err)
		out := w.exposition()
		if strings.Contains(out, poison) {
			w.Error("it is there")
		}
		w.wantMetrics(`holdfast_shed_total{bound="console_text"} 1`)
		for _, said := range []string{string(page), string(frame)} {
			if strings.Contains(out, said) {
				w.Errorf("%s is there", said)
			}
		}
	})
}

func (w *world) at(address string) messages.CDPURL {
	u, err := messages.ParseCDPURL(address)
	if err != nil {
		w.Fatal(err)
	}
	return u
}
