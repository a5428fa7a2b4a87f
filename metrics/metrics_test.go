package metrics_test

import (
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"holdfast/internal/browser"
	"holdfast/internal/guard"
	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/metrics"
	"holdfast/transport"
)

var update = flag.Bool("update", false, "write docs/metrics.md and the golden list anew")

// setup is the metrics of a node with these tasks.
func setup(t *testing.T, tasks ...*messages.Snapshot) *metrics.Metrics {
	t.Helper()
	return metrics.New(metrics.Sources{Tasks: func() []*messages.Snapshot { return tasks }})
}

func gather(t *testing.T, m *metrics.Metrics) []*dto.MetricFamily {
	t.Helper()
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// TestSeriesAreThoseOfTheContract: dashboards and alerts stand on them. Every
// one is there before anything has happened.
func TestSeriesAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	var got []string
	for _, f := range gather(t, setup(t)) {
		if !strings.HasPrefix(f.GetName(), "holdfast_") {
			continue
		}
		for _, m := range f.GetMetric() {
			series := f.GetName()
			var labels []string
			for _, l := range m.GetLabel() {
				if f.GetName() == "holdfast_build_info" {
					l.Value = new("…") // the build's
				}
				labels = append(labels, l.GetName()+`="`+l.GetValue()+`"`)
			}
			if labels != nil {
				series += "{" + strings.Join(labels, ",") + "}"
			}
			got = append(got, strings.ToLower(f.GetType().String())+" "+series)
		}
	}
	const golden = "testdata/series.txt"
	if *update {
		write(t, golden, strings.Join(got, "\n")+"\n")
	}
	want := strings.Split(strings.TrimSpace(read(t, golden)), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got); if that is meant: go test ./metrics -update\n%s", diff)
	}
}

func TestTheDocumentationIsThatOfTheTable(t *testing.T) {
	t.Parallel()
	const doc = "../docs/metrics.md"
	now := metrics.Document(read(t, doc))
	if *update {
		write(t, doc, now)
	}
	if diff := cmp.Diff(now, read(t, doc)); diff != "" {
		t.Errorf("docs/metrics.md is not up to date (go generate ./metrics):\n%s", diff)
	}
}

func TestNamesAreAsPrometheusWantsThem(t *testing.T) {
	t.Parallel()
	problems, err := testutil.GatherAndLint(setup(t).Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestAnIdleNodeHasFewSeries counts what Prometheus stores of a scrape in the
// text format, in which a bucket is a series of its own.
func TestAnIdleNodeHasFewSeries(t *testing.T) {
	t.Parallel()
	series := 0
	for line := range strings.Lines(scrape(t, setup(t))) {
		if !strings.HasPrefix(line, "#") {
			series++
		}
	}
	t.Logf("%d series", series)
	if series >= 450 {
		t.Errorf("an idle node has %d series", series)
	}
}

func TestHistogramsHaveBothForms(t *testing.T) {
	t.Parallel()
	for _, f := range gather(t, setup(t)) {
		if f.GetType() != dto.MetricType_HISTOGRAM || !strings.HasPrefix(f.GetName(), "holdfast_") {
			continue
		}
		for _, m := range f.GetMetric() {
			if h := m.GetHistogram(); len(h.GetBucket()) == 0 || h.Schema == nil || h.GetZeroThreshold() == 0 {
				t.Errorf("%s: %d classic buckets, native schema %v", f.GetName(), len(h.GetBucket()), h.Schema)
			}
		}
	}
}

func TestEventsAreCounted(t *testing.T) {
	t.Parallel()
	m := setup(t)
	m.Observe([]messages.Event{
		{Type: messages.EventDialogOpened, Dialog: &messages.Dialog{Type: "prompt", Path: "native"}},
		{Type: messages.EventDialogOpened, InOOPIF: true, Dialog: &messages.Dialog{Type: "a type nobody knows", Path: "native"}},
		{Type: messages.EventDialogOpened, InOOPIF: true, Dialog: &messages.Dialog{Type: "confirm", Path: "bridge"}},
		{Type: messages.EventDialogOpened, InOOPIF: true, Dialog: &messages.Dialog{Type: "confirm", Path: "bridge"}},
		{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{ClosedBy: messages.ClosedByWatchdog}},
		{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{ClosedBy: messages.ClosedByAgent, Promoted: true}},
		{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{ClosedBy: messages.ClosedByLost, Promoted: true}},
		{Type: messages.EventPageOpened, Page: &messages.Page{PageState: messages.PageHung}},
		{Type: messages.EventPageChanged, Was: messages.PageOK, Page: &messages.Page{PageState: messages.PageHung}},
		{Type: messages.EventPageChanged, Page: &messages.Page{PageState: messages.PageHung, Title: "another"}},
		{Type: messages.EventPageChanged, Was: messages.PageHung, Page: &messages.Page{PageState: messages.PageOK}},
		{Type: messages.EventPageRecovery, Page: &messages.Page{}, Recovery: &messages.Recovery{Action: messages.RecoverReload, Result: messages.RecoveryOK}},
		{Type: messages.EventTaskState, State: messages.StateActive},
		{Type: messages.EventTaskState, State: messages.StateLost, Outcome: messages.OutcomeFailed},
		{Type: messages.EventConnection, Connection: &messages.Connection{Primary: messages.LinkUp}},
		{Type: messages.EventConnection, Connection: &messages.Connection{Primary: messages.LinkBackoff, Reconnects: 1}},
		{Type: messages.EventConnection, Connection: &messages.Connection{Primary: messages.LinkUp, Reconnects: 1, LastGapMS: 40}, Reason: messages.ReasonReconnected, Reconnect: &messages.Reconnect{OK: true, Cause: messages.CauseHalfOpen}},
		{Type: messages.EventConnection, Connection: &messages.Connection{Primary: messages.LinkDown}, Reconnect: &messages.Reconnect{Cause: messages.CauseDial}},
	})
	m.ActorStarted("dialog")
	m.ActorStarted("dialog")
	m.ActorStarted("a kind nobody knows")
	m.ActorExited("dialog", guard.Reason{Kind: guard.Panic})
	m.ActorRestarted("dialog")
	m.ActorGaveUp("anchor")
	m.DuplicateID()
	m.OrphansReaped(2)
	m.BrowserExited(string(browser.ExitSignal))
	m.TaskStarted(false, 700*time.Millisecond)
	m.QueueWaited(0)
	m.AdmissionRejected(messages.LimitMemory)
	m.AdmissionRejected("a reason nobody knows")
	m.Answered(30*time.Millisecond, nil)
	m.Answered(time.Second, messages.Errorf(messages.CodeDialogLost, "lost"))
	m.Answered(time.Second, errors.New("anything else"))
	m.AuthFailed("drive")
	m.Request("read", 200, false, 3*time.Millisecond)
	m.Request("read", 404, false, 3*time.Millisecond)
	m.Request("drive", 200, true, time.Minute)
	m.Request("events", 500, false, time.Hour)
	m.Request("drive", messages.StatusGone, false, time.Second)
	m.Request("a class nobody knows", 204, false, 0)
	m.StreamOpened()
	m.StreamOpened()
	m.StreamClosed()
	wantSeries(t, scrape(t, m),
		`holdfast_dialogs_opened_total{frame="main",path="native",type="prompt"} 1`,
		`holdfast_dialogs_opened_total{frame="oopif",path="native",type="other"} 1`,
		`holdfast_dialogs_opened_total{frame="main",path="native",type="alert"} 0`,
		`holdfast_dialogs_opened_total{frame="oopif",path="bridge",type="confirm"} 2`,
		`holdfast_dialogs_closed_total{closed_by="watchdog"} 1`,
		`holdfast_dialogs_closed_total{closed_by="remote"} 0`,
		`holdfast_dialog_answer_seconds_bucket{le="0.025"} 0`,
		`holdfast_dialog_answer_seconds_bucket{le="0.1"} 1`,
		`holdfast_dialog_late_answers_total 1`,
		`holdfast_anchor_promotions_total{result="answered"} 1`,
		`holdfast_anchor_promotions_total{result="failed"} 1`,
		`holdfast_page_wedges_total{cause="hung"} 1`,
		`holdfast_page_wedges_total{cause="crashed"} 0`,
		`holdfast_page_recoveries_total{action="reload",result="ok"} 1`,
		`holdfast_page_recoveries_total{action="close",result="failed"} 0`,
		`holdfast_tasks_total{outcome="failed"} 1`,
		`holdfast_tasks_total{outcome="lost"} 0`,
		`holdfast_upstream_reconnects_total{cause="half_open",result="ok"} 1`,
		`holdfast_upstream_reconnects_total{cause="closed",result="ok"} 0`,
		`holdfast_upstream_reconnects_total{cause="dial",result="failed"} 1`,
		`holdfast_upstream_reconnects_total{cause="attach",result="failed"} 0`,
		`holdfast_upstream_gap_seconds_bucket{le="0.1"} 1`,
		`holdfast_actors{kind="dialog"} 1`,
		`holdfast_actors{kind="other"} 1`,
		`holdfast_actor_exits_total{reason="panic"} 1`,
		`holdfast_actor_restarts_total{kind="dialog"} 1`,
		`holdfast_actor_restart_budget_exhausted_total{kind="anchor"} 1`,
		`holdfast_actor_duplicate_ids_total 1`,
		`holdfast_browser_orphans_reaped_total 2`,
		`holdfast_browser_exits_total{reason="signal"} 1`,
		`holdfast_task_start_duration_seconds_bucket{kind="attach",le="1"} 1`,
		`holdfast_task_start_duration_seconds_count{kind="launch"} 0`,
		`holdfast_task_queue_wait_seconds_bucket{le="0.01"} 1`,
		`holdfast_admission_rejected_total{reason="memory"} 1`,
		`holdfast_auth_failures_total{route_class="drive"} 1`,
		`holdfast_http_requests_total{result="ok",route_class="read"} 1`,
		`holdfast_http_requests_total{result="refused",route_class="read"} 1`,
		`holdfast_http_requests_total{result="failed",route_class="drive"} 1`,
		`holdfast_http_requests_total{result="gone",route_class="drive"} 1`,
		`holdfast_http_requests_total{result="failed",route_class="events"} 1`,
		`holdfast_http_requests_total{result="ok",route_class="other"} 1`,
		`holdfast_http_request_duration_seconds_count{route_class="read"} 2`,
		`holdfast_event_streams 1`,
	)
}

func TestGaugesAreReadFromSnapshots(t *testing.T) {
	t.Parallel()
	out := scrape(t, setup(t,
		&messages.Snapshot{
			State: messages.StateWedged, Connection: messages.Connection{Primary: messages.LinkUp},
			Pages:          []messages.Page{{PageState: messages.PageOK}, {PageState: messages.PageDialog}, {PageState: messages.PageHung}},
			PendingDialogs: []messages.Dialog{{OpenedAt: 1000, ExpiresAt: 2000}, {OpenedAt: 2000}},
			FrameTree:      &messages.FrameTree{Truncated: true, Children: []messages.FrameNode{{IsOOPIF: true, SessionID: "S"}, {}}},
		},
		&messages.Snapshot{State: messages.StateActive, Active: true, Connection: messages.Connection{Anchor: messages.LinkUp}},
		&messages.Snapshot{State: messages.StateActive, Active: true, Connection: messages.Connection{AnchorOff: messages.AnchorOffSingle}},
		&messages.Snapshot{State: messages.StateLost},
	))
	wantSeries(t, out,
		`holdfast_tasks{state="wedged"} 1`, `holdfast_tasks{state="lost"} 1`, `holdfast_tasks{state="active"} 2`,
		`holdfast_pages 3`, `holdfast_page_wedged{cause="dialog"} 1`, `holdfast_page_wedged{cause="hung"} 1`,
		`holdfast_page_wedged{cause="crashed"} 0`, `holdfast_dialogs_pending 2`, `holdfast_frames 3`,
		`holdfast_oopif_sessions 1`, `holdfast_upstream_connections{role="primary"} 1`,
		`holdfast_upstream_connections{role="anchor"} 1`, `holdfast_anchor_off{reason="single"} 1`, `holdfast_anchor_off{reason="foreign"} 0`,
		`holdfast_dialog_watchdog_ratio 1`, `holdfast_frame_trees_truncated 1`,
	)
	if strings.Contains(out, "holdfast_dialog_oldest_age_seconds 0\n") {
		t.Error("the oldest dialog has no age")
	}
}

func TestOtherSourcesAreReadOnScrapes(t *testing.T) {
	t.Parallel()
	var (
		links transport.Stats
		cut   shed.Counts
	)
	links.EventsIn.Add(3)
	links.Oversized.Add(1)
	links.DialsQueued.Add(4)
	links.DialsUnqueued.Add(3)
	links.Short(transport.ShortDescriptors).Add(5)
	links.Short(transport.ShortPorts).Add(6)
	links.Short(transport.ShortBuffers).Add(7)
	links.CallsStarted.Add(2)
	cut.Hit(shed.ConsoleErrors)
	cut.Hit(shed.CDPMessages)
	wantSeries(t, scrape(t, metrics.New(metrics.Sources{
		Link: &links, Bounds: &cut,
		Pressure: func() messages.Pressure {
			return messages.Pressure{
				Queued: 2, Draining: true, Memory: messages.Load{UsedBytes: 70, LimitBytes: 100},
				Limits: messages.PressureLimits{Tasks: 5, Browsers: 3, QueueLength: 10},
			}
		},
		Mailboxes: func(each func(string, int, uint64)) {
			each("session", 4, 1)
			each("session", 3, 0)
			each("a kind nobody knows", 1, 2)
		},
		Browsers: func() (int, uint64) { return 2, 1 << 20 },
		Warm:     func() int { return 1 },
	})),
		`holdfast_tasks{state="queued"} 2`, `holdfast_task_queue_length 2`, `holdfast_task_queue_capacity 10`,
		`holdfast_task_limit 5`, `holdfast_browser_limit 3`, `holdfast_memory_used_bytes 70`, `holdfast_memory_limit_bytes 100`,
		`holdfast_draining 1`,
		`holdfast_actor_mailbox_length{kind="session"} 4`, `holdfast_actor_mailbox_shed_total{kind="session"} 1`,
		`holdfast_actor_mailbox_length{kind="other"} 1`, `holdfast_actor_mailbox_shed_total{kind="other"} 2`,
		`holdfast_browsers 2`, `holdfast_browser_rss_bytes 1.048576e+06`,
		`holdfast_cdp_messages_total{direction="in",kind="event",leg="upstream"} 3`,
		`holdfast_cdp_commands_in_flight{leg="upstream"} 2`, `holdfast_dials_waiting 1`,
		`holdfast_dials_short_total{resource="descriptors"} 5`, `holdfast_dials_short_total{resource="ports"} 6`, `holdfast_dials_short_total{resource="buffers"} 7`,
		`holdfast_shed_total{bound="console_errors"} 1`, `holdfast_shed_total{bound="cdp_messages"} 2`,
	)
}

// TestANodeInAClusterHasItsSeries: without a cluster there are none.
func TestANodeInAClusterHasItsSeries(t *testing.T) {
	t.Parallel()
	isIn := false
	m := metrics.New(metrics.Sources{Cluster: func() (metrics.Cluster, bool) {
		return metrics.Cluster{
			HasQuorum: true, IsHeld: true, Margin: 1750 * time.Millisecond, Nodes: map[messages.LeaseState]int{messages.LeaseHeld: 2, messages.LeaseGone: 1},
			Lapses: 3, Terms: 4, Writes: 9, Failures: 2, Fences: 1, Era: 2,
			Taken: map[metrics.Taking]uint64{metrics.TakenByStandby: 5}, Given: 6, Standbys: 7,
			Store:   metrics.Durations{Within: map[time.Duration]uint64{5 * time.Millisecond: 3, 500 * time.Millisecond: 6}, Count: 7, Sum: 2 * time.Second},
			Silence: 1500 * time.Millisecond, Watches: 4, Peers: map[metrics.PeerAsk]metrics.Answers{metrics.AskForward: {Answered: 8, Failed: 1}},
			Actors: metrics.ActorMessages{QueuedBytes: 512, Dropped: 2, Refused: 3},
		}, isIn
	}})
	if strings.Contains(scrape(t, m), "holdfast_cluster_") {
		t.Error("a node without a cluster has its series")
	}
	isIn = true
	wantSeries(t, scrape(t, m),
		`holdfast_cluster_has_quorum 1`, `holdfast_cluster_lease_held 1`, `holdfast_cluster_lease_margin_seconds 1.75`,
		`holdfast_cluster_nodes{state="held"} 2`, `holdfast_cluster_nodes{state="lapsed"} 0`, `holdfast_cluster_nodes{state="gone"} 1`,
		`holdfast_cluster_lease_lapses_total 3`, `holdfast_cluster_terms_total 4`,
		`holdfast_cluster_store_writes_total{outcome="answered"} 7`, `holdfast_cluster_store_writes_total{outcome="unknown"} 2`,
		`holdfast_cluster_fences_total 1`, `holdfast_cluster_era 2`, `holdfast_cluster_standbys 7`, `holdfast_cluster_tasks_given_total 6`,
		`holdfast_cluster_tasks_taken_total{how="standby"} 5`, `holdfast_cluster_tasks_taken_total{how="attached"} 0`, `holdfast_cluster_tasks_taken_total{how="lost"} 0`,
		`holdfast_cluster_store_write_seconds_bucket{le="0.005"} 3`, `holdfast_cluster_store_write_seconds_bucket{le="0.5"} 6`,
		`holdfast_cluster_store_write_seconds_bucket{le="+Inf"} 7`, `holdfast_cluster_store_write_seconds_sum 2`, `holdfast_cluster_watch_silence_seconds 1.5`, `holdfast_cluster_watches_total 4`,
		`holdfast_cluster_peer_requests_total{kind="forward",outcome="answered"} 8`, `holdfast_cluster_peer_requests_total{kind="forward",outcome="failed"} 1`,
		`holdfast_cluster_peer_requests_total{kind="gather",outcome="failed"} 0`, `holdfast_cluster_actor_queue_bytes 512`,
		`holdfast_cluster_actor_messages_lost_total{outcome="dropped"} 2`, `holdfast_cluster_actor_messages_lost_total{outcome="refused"} 3`,
	)
}

// TestNoListIsShorterThanWhatItIsOf: a value that a list lacks would count as
// other, or not at all.
func TestNoListIsShorterThanWhatItIsOf(t *testing.T) {
	t.Parallel()
	golden := read(t, "testdata/series.txt")
	for _, o := range messages.TaskOutcomes() {
		if !strings.Contains(golden, `holdfast_tasks_total{outcome="`+string(o)+`"}`) {
			t.Errorf("tasks that have %s are not counted", o)
		}
	}
	for _, e := range browser.Exits() {
		if !strings.Contains(golden, `holdfast_browser_exits_total{reason="`+string(e)+`"}`) {
			t.Errorf("browsers that end by %s are not counted", e)
		}
	}
	for _, k := range []guard.ReasonKind{guard.Normal, guard.Shutdown, guard.Failure, guard.Panic, guard.Abandoned} {
		if !strings.Contains(golden, `holdfast_actor_exits_total{reason="`+k.String()+`"}`) {
			t.Errorf("actors with reason %s are not counted", k)
		}
	}
}

func TestCountingCostsNoAllocation(t *testing.T) {
	m := setup(t)
	events := []messages.Event{
		{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{ClosedBy: messages.ClosedByAgent}},
		{Type: messages.EventDialogOpened, Dialog: &messages.Dialog{Type: "alert", Path: "native"}},
	}
	count := func() {
		m.Observe(events)
		m.ActorStarted("session")
		m.ActorExited("session", guard.Reason{})
		m.Request("read", 200, false, 3*time.Millisecond)
		m.Request("a class nobody knows", 200, false, 3*time.Millisecond)
		m.AuthFailed("read")
		m.AdmissionRejected(messages.LimitMemory)
	}
	count()
	if n := testing.AllocsPerRun(100, count); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func wantSeries(t *testing.T, out string, want ...string) {
	t.Helper()
	lines := strings.Split(out, "\n")
	for _, w := range want {
		if !slices.Contains(lines, w) {
			t.Errorf("%s is missing", w)
		}
	}
	if strings.Contains(out, "nobody knows") {
		t.Error("a label has a value from outside")
	}
}

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
