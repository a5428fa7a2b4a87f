package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/metrics"
	"holdfast/transport"
)

// setup is the metrics of a node with one task.
func setup(t *testing.T, tasks ...*messages.Snapshot) *metrics.Metrics {
	t.Helper()
	return metrics.New(metrics.Sources{
		Tasks: func() []*messages.Snapshot { return tasks }, Link: &transport.Stats{}, Shed: func() uint64 { return 3 },
	})
}

// names are the node's own series: a contract with dashboards and alerts.
var names = []string{
	"holdfast_actor_duplicate_ids_total", "holdfast_actors_exited_total", "holdfast_actors_started_total",
	"holdfast_anchor_off", "holdfast_anchor_promotions_total",
	"holdfast_auth_failures_total", "holdfast_browser_orphans_reaped_total", "holdfast_build_info",
	"holdfast_console_errors_shed_total", "holdfast_dead_letters_total", "holdfast_dialog_oldest_age_seconds",
	"holdfast_dialogs_closed_total", "holdfast_dialogs_opened_total", "holdfast_dialogs_pending", "holdfast_frames",
	"holdfast_link_events_total", "holdfast_oopif_sessions", "holdfast_page_recoveries_total", "holdfast_page_wedged",
	"holdfast_page_wedges_total", "holdfast_pages", "holdfast_tasks",
	"holdfast_tasks_total", "holdfast_upstream_connections", "holdfast_upstream_gap_seconds", "holdfast_upstream_reconnects_total",
}

func TestNamesAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	families, err := setup(t).Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	series := 0
	for _, f := range families {
		series += len(f.GetMetric())
		if strings.HasPrefix(f.GetName(), "holdfast_") {
			got = append(got, f.GetName())
		}
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if series > 400 {
		t.Errorf("an idle node has %d series", series)
	}
	problems, err := testutil.GatherAndLint(setup(t).Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestEventsAreCounted(t *testing.T) {
	t.Parallel()
	m := setup(t)
	m.Observe([]messages.Event{
		{Type: messages.EventDialogOpened, Dialog: &messages.Dialog{Type: "prompt"}},
		{Type: messages.EventDialogOpened, Dialog: &messages.Dialog{Type: "a type nobody knows"}},
		{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{ClosedBy: messages.ClosedByWatchdog}},
		{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{ClosedBy: messages.ClosedByAgent, Promoted: true}},
		{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{ClosedBy: messages.ClosedByLost, Promoted: true}},
		{Type: messages.EventPageOpened, Page: &messages.Page{PageState: messages.PageHung}},
		{Type: messages.EventPageChanged, Was: messages.PageOK, Page: &messages.Page{PageState: messages.PageHung}},
		{Type: messages.EventPageChanged, Page: &messages.Page{PageState: messages.PageHung, Title: "another"}},
		{Type: messages.EventPageChanged, Was: messages.PageHung, Page: &messages.Page{PageState: messages.PageOK}},
		{Type: messages.EventPageRecovery, Page: &messages.Page{}, Recovery: &messages.Recovery{Action: messages.RecoverReload, Result: messages.RecoveryOK}},
		{Type: messages.EventTaskState, State: messages.StateLost},
		{Type: messages.EventConnection, Connection: &messages.Connection{Primary: messages.LinkUp}},
		{Type: messages.EventConnection, Connection: &messages.Connection{Primary: messages.LinkBackoff, Reconnects: 1}},
		{Type: messages.EventConnection, Connection: &messages.Connection{Primary: messages.LinkUp, Reconnects: 1, LastGapMS: 40}, Reason: messages.ReasonReconnected, Reconnect: &messages.Reconnect{OK: true, Cause: messages.CauseHalfOpen}},
		{Type: messages.EventConnection, Connection: &messages.Connection{Primary: messages.LinkDown}, Reconnect: &messages.Reconnect{Cause: messages.CauseDial}},
	})
	m.ActorStarted("dialog")
	m.ActorStarted("a kind nobody knows")
	m.ActorExited("dialog", guard.Reason{Kind: guard.Panic})
	m.AuthFailure("cdp")
	m.DeadLetter()
	m.DuplicateID()
	m.OrphansReaped(2)
	out := scrape(t, m)
	for _, want := range []string{
		`holdfast_dialogs_opened_total{type="prompt"} 1`,
		`holdfast_dialogs_opened_total{type="other"} 1`,
		`holdfast_dialogs_opened_total{type="alert"} 0`,
		`holdfast_dialogs_closed_total{closed_by="watchdog"} 1`,
		`holdfast_dialogs_closed_total{closed_by="remote"} 0`,
		`holdfast_anchor_promotions_total{result="answered"} 1`,
		`holdfast_anchor_promotions_total{result="failed"} 1`,
		`holdfast_page_wedges_total{cause="hung"} 1`,
		`holdfast_page_wedges_total{cause="crashed"} 0`,
		`holdfast_page_recoveries_total{action="reload",result="ok"} 1`,
		`holdfast_page_recoveries_total{action="close",result="failed"} 0`,
		`holdfast_tasks_total{outcome="lost"} 1`,
		`holdfast_upstream_reconnects_total{cause="half_open",result="ok"} 1`,
		`holdfast_upstream_reconnects_total{cause="closed",result="ok"} 0`,
		`holdfast_upstream_reconnects_total{cause="dial",result="failed"} 1`,
		`holdfast_upstream_reconnects_total{cause="attach",result="failed"} 0`,
		`holdfast_upstream_gap_seconds_bucket{le="0.05"} 1`,
		`holdfast_actors_started_total{kind="dialog"} 1`,
		`holdfast_actors_started_total{kind="other"} 1`,
		`holdfast_actors_exited_total{kind="dialog",reason="panic"} 1`,
		`holdfast_auth_failures_total{route_class="cdp"} 1`,
		`holdfast_dead_letters_total 1`,
		`holdfast_actor_duplicate_ids_total 1`,
		`holdfast_browser_orphans_reaped_total 2`,
		`holdfast_console_errors_shed_total 3`,
	} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(out, "nobody knows") {
		t.Error("a label has a value from outside")
	}
}

func TestGaugesAreReadFromSnapshots(t *testing.T) {
	t.Parallel()
	out := scrape(t, setup(t,
		&messages.Snapshot{
			State: messages.StateWedged, Connection: messages.Connection{Primary: messages.LinkUp},
			Pages:          []messages.Page{{PageState: messages.PageOK}, {PageState: messages.PageDialog}, {PageState: messages.PageHung}},
			PendingDialogs: []messages.Dialog{{OpenedAt: 1000}, {OpenedAt: 2000}},
			FrameTree:      &messages.FrameTree{Children: []messages.FrameNode{{IsOOPIF: true, SessionID: "S"}, {}}},
		},
		&messages.Snapshot{State: messages.StateActive, Active: true, Connection: messages.Connection{Anchor: messages.LinkUp}},
		&messages.Snapshot{State: messages.StateActive, Active: true, Connection: messages.Connection{AnchorOff: messages.AnchorOffSingle}},
		&messages.Snapshot{State: messages.StateLost},
	))
	for _, want := range []string{
		`holdfast_tasks{state="wedged"} 1`, `holdfast_tasks{state="lost"} 1`, `holdfast_tasks{state="active"} 2`,
		`holdfast_pages 3`, `holdfast_page_wedged{cause="dialog"} 1`, `holdfast_page_wedged{cause="hung"} 1`,
		`holdfast_page_wedged{cause="crashed"} 0`, `holdfast_dialogs_pending 2`, `holdfast_frames 3`,
		`holdfast_oopif_sessions 1`, `holdfast_upstream_connections{role="primary"} 1`,
		`holdfast_upstream_connections{role="anchor"} 1`, `holdfast_anchor_off{reason="single"} 1`, `holdfast_anchor_off{reason="foreign"} 0`,
	} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(out, "holdfast_dialog_oldest_age_seconds 0\n") {
		t.Error("the oldest dialog has no age")
	}
}

func TestCountingCostsNoAllocation(t *testing.T) {
	m := setup(t)
	events := []messages.Event{{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{ClosedBy: messages.ClosedByAgent}}}
	if n := testing.AllocsPerRun(100, func() { m.Observe(events); m.ActorStarted("session") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	return w.Body.String()
}
