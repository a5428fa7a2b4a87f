package prometheus_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"holdfast/chaos"
	"holdfast/messages"
)

// TestWhatPrometheusStoresIsWhatHappened: a node runs a load with faults, of
// which every one is counted here as well; what a real Prometheus has stored of
// the node adds up to the same.
func TestWhatPrometheusStoresIsWhatHappened(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := start(t, w.address())
	p.await("up", func(v float64) bool { return v == 1 })
	// The first scrape counts as the making of all series.
	series := p.await(`count({job="holdfast"})`, func(v float64) bool { return v > 0 })
	did := w.load(func() {
		p.await(`holdfast_browser_rss_bytes > 10e6 and holdfast_browsers == 1`, func(float64) bool { return true })
	})

	// Each scrape is a request of the next one. After two more there is nothing
	// that is not stored: what is counted is counted a moment after it shows.
	const scrapes = `sum(holdfast_http_requests_total{route_class="health",result="ok"})`
	now := p.await(scrapes, func(float64) bool { return true })
	p.await(scrapes, func(v float64) bool { return v >= now+2 })

	for _, c := range []struct {
		expr string
		want int
	}{
		{`sum(holdfast_dialogs_opened_total)`, did.opened},
		{`sum(holdfast_dialogs_opened_total) - sum(holdfast_dialogs_closed_total) - sum(holdfast_dialogs_pending)`, 0},
		{`holdfast_dialogs_pending`, did.pending},
		{`sum(holdfast_dialogs_closed_total{closed_by="agent"})`, did.answered},
		{`sum(holdfast_dialogs_closed_total{closed_by="lost"})`, did.lost},
		{`histogram_count(holdfast_dialog_answer_seconds)`, did.answered},
		{`histogram_count(holdfast_dialog_detect_seconds)`, did.opened},
		{`holdfast_dialog_late_answers_total`, did.late},
		{`sum(holdfast_upstream_reconnects_total{result="ok"})`, did.kills},
		{`histogram_count(holdfast_upstream_gap_seconds)`, did.kills},
		{`holdfast_anchor_promotions_total{result="answered"}`, did.promoted},
		{`holdfast_admission_rejected_total{reason="tasks"}`, did.rejected},
		{`sum(holdfast_admission_rejected_total)`, did.rejected},
		{`sum(holdfast_tasks_total)`, did.stopped + did.failed},
		{`holdfast_tasks_total{outcome="stopped"}`, did.stopped},
		{`holdfast_tasks_total{outcome="failed"}`, did.failed},
		{`holdfast_tasks_total{outcome="lost"}`, 0},
		{`sum(holdfast_tasks)`, did.started - did.stopped},
		{`sum(histogram_count(holdfast_task_start_duration_seconds))`, did.started},
		{`histogram_count(holdfast_task_start_duration_seconds{kind="launch"})`, 1},
		{`holdfast_page_wedges_total{cause="crashed"}`, did.crashed},
		{`histogram_count(holdfast_page_wedge_seconds{cause="crashed"})`, did.crashed},
		{`sum(holdfast_page_wedged)`, did.pending}, // those that ask
		{`holdfast_page_recoveries_total{action="reload",result="ok"}`, did.crashed},
		{`holdfast_browser_exits_total{reason="stopped"}`, 1},
		{`holdfast_browsers`, 0},
		{`holdfast_http_requests_total{route_class="read",result="ok"}`, did.reads},
		{`holdfast_auth_failures_total{route_class="read"}`, did.strangers},
		{`holdfast_http_requests_total{route_class="read",result="refused"}`, did.strangers},
		{`sum(holdfast_actor_restart_budget_exhausted_total)`, 0},
		{`holdfast_dead_letters_total{when="late"}`, 0},
		{`holdfast_actor_exits_total{reason="panic"}`, 0},
		{`holdfast_cdp_commands_in_flight`, 0},
		{`sum(holdfast_shed_total)`, 0},
		{`min_over_time(up[10m])`, 1},
		{`sum(resets(label_replace({__name__=~"holdfast_.+_total"}, "metric", "$1", "__name__", "(.+)")[10m:1s]))`, 0},
		// No series came with the load, and none is gone.
		{`count({job="holdfast"})`, int(series)},
		{`sum_over_time(scrape_series_added[10m]) - min_over_time(scrape_samples_post_metric_relabeling[10m])`, 0},
		{`count({job="holdfast"}) <= bool 400`, 1},
	} {
		p.want(c.expr, float64(c.want))
	}
	// A quantile of what is stored in native buckets.
	if v, ok := p.number(`histogram_quantile(0.5, sum(holdfast_cdp_command_duration_seconds{result="ok"}))`); !ok || !(v > 0 && v < 10) {
		t.Errorf("the median of commands is %v (%v)", v, ok)
	}
	for _, kind := range []string{"command", "reply", "event"} {
		if v, ok := p.number(fmt.Sprintf(`holdfast_cdp_bytes_total{leg="upstream",kind=%q} / holdfast_cdp_messages_total`, kind)); !ok || v < 10 {
			t.Errorf("a %s has %v bytes (%v)", kind, v, ok)
		}
	}

	_, exposition := w.get("/metrics", false)
	check := exec.Command(program(t, "promtool"), "check", "metrics")
	check.Stdin = strings.NewReader(exposition)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// deeds are what a load has done.
type deeds struct {
	started, stopped, failed, rejected         int
	opened, answered, lost, late, pending      int
	kills, promoted, crashed, reads, strangers int
}

// load keeps a node busy and breaks what it can; whileItRuns is called while a
// browser runs that the node has launched.
func (w *world) load(whileItRuns func()) (did deeds) {
	w.Helper()
	var tasks []*task
	for n := range places {
		tasks = append(tasks, w.wholeTask(n+1))
	}
	did.started = places

	// One more than there is room for.
	_, spec := w.fake(places + 1)
	for range 3 {
		_, _, err := w.node.GetOrStart(w.Context(), "one-too-many", spec)
		w.refused(err, messages.CodeLimitReached)
		did.rejected++
	}

	for i, k := range tasks {
		kinds := []chaos.DialogType{chaos.Alert, chaos.Confirm, chaos.Prompt}
		for _, kind := range kinds[:1+i%3] {
			k.answer(k.open(kind))
			did.opened, did.answered = did.opened+1, did.answered+1
		}
		k.kill()
		did.kills++
	}

	// A dialog outlives the link: its answer goes through the anchor.
	held := tasks[0].open(chaos.Prompt)
	tasks[0].kill()
	tasks[0].answer(held)
	did.opened, did.answered, did.promoted, did.kills = did.opened+1, did.answered+1, did.promoted+1, did.kills+1

	// With both links it is lost, and an answer comes too late.
	orphan := tasks[1].open(chaos.Confirm)
	if _, err := w.node.Kill(w.Context(), tasks[1].id, messages.LinksBoth); err != nil {
		w.Fatal(err)
	}
	tasks[1].await("the loss", func(s *messages.Snapshot) bool { return len(s.PendingDialogs) == 0 && len(s.RecentDialogs) > 0 })
	_, err := w.node.Respond(w.Context(), tasks[1].id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: orphan.ID})
	w.refused(err, messages.CodeDialogLost)
	did.opened, did.lost, did.late, did.kills = did.opened+1, did.lost+1, did.late+1, did.kills+1
	tasks[1].await("the reconnect", func(s *messages.Snapshot) bool {
		return s.Connection.Primary == messages.LinkUp && s.Connection.Reconnects == 2
	})

	// A page crashes and is loaded anew.
	crashed := tasks[2]
	page := crashed.browser.Pages()[0].Target
	crashed.browser.Crash(page)
	crashed.await("the crash", func(s *messages.Snapshot) bool { return s.PageState == messages.PageCrashed })
	if _, err := w.node.Recover(w.Context(), crashed.id, messages.RecoverRequest{Action: messages.RecoverReload}); err != nil {
		w.Fatal(err)
	}
	did.crashed++

	// Room for a browser of the node's own, and a dialog of a real page.
	for _, k := range tasks[1:5] { // the one with the lost dialog among them
		k.stop()
		did.stopped++
	}
	real := w.start("real", messages.TaskSpec{Launch: &messages.LaunchSpec{}}, nil)
	real.whole(0)
	if _, err := w.node.CDP(w.Context(), real.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(`{"expression":"setTimeout(() => alert(1), 0)"}`)}); err != nil {
		w.Fatal(err)
	}
	real.answer(real.pending())
	did.opened, did.answered, did.started = did.opened+1, did.answered+1, did.started+1
	whileItRuns()
	real.stop()
	did.stopped++

	// No browser listens there.
	_, _, err = w.node.GetOrStart(w.Context(), "nobody", w.at("ws"+strings.TrimPrefix(w.back.URL, "http")+"/devtools/browser/nobody"))
	w.refused(err, messages.CodeUpstreamUnavailable)
	did.failed++

	for range 4 {
		if status, _ := w.get("/v1/tasks", true); status != 200 {
			w.Fatal(status)
		}
		if status, _ := w.get("/v1/tasks", false); status != 401 {
			w.Fatal(status)
		}
		did.reads, did.strangers = did.reads+1, did.strangers+1
	}
	for _, k := range tasks[7:] {
		k.open(chaos.Alert)
		did.opened, did.pending = did.opened+1, did.pending+1
	}
	return did
}
