package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"pgregory.net/rapid"

	"holdfast/internal/guard"
	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/metrics"
	"holdfast/transport"
)

// series are the names and labels of an exposition, without the values.
func series(exposition string) (list []string) {
	for line := range strings.Lines(exposition) {
		if !strings.HasPrefix(line, "#") && strings.HasPrefix(line, "holdfast_") {
			list = append(list, line[:strings.LastIndexByte(line, ' ')])
		}
	}
	return list
}

// TestNothingMakesASeries: whatever is told, in whatever words, the series are
// those of a node to which nothing has happened.
func TestNothingMakesASeries(t *testing.T) {
	t.Parallel()
	idle := series(scrape(t, setup(t)))
	rapid.Check(t, func(rt *rapid.T) {
		word := func() string {
			return rapid.OneOf(
				rapid.SampledFrom([]string{"", "alert", "native", "agent", "hung", "ok", "reload", "half_open", "lost", "session", "read", "primary", "other"}),
				rapid.String(),
			).Draw(rt, "word")
		}
		snapshot := &messages.Snapshot{
			TaskID: messages.TaskID(word()), State: messages.TaskState(word()), Active: rapid.Bool().Draw(rt, "active"), Reason: word(),
			Connection: messages.Connection{Primary: messages.LinkState(word()), AnchorOff: messages.AnchorOff(word()), Endpoint: word()},
			Pages:      []messages.Page{{URL: word(), Title: word(), PageState: messages.PageState(word())}},
			PendingDialogs: []messages.Dialog{{
				Type: messages.DialogType(word()), Message: word(), Path: messages.DialogPath(word()),
				OpenedAt: messages.Seconds(rapid.Float64().Draw(rt, "opened")), ExpiresAt: messages.Seconds(rapid.Float64().Draw(rt, "expires")),
			}},
			Labels: map[string]string{word(): word()},
		}
		links := &transport.Stats{}
		links.Commands.Add(word(), time.Duration(rapid.Int64().Draw(rt, "took")), nil)
		m := metrics.New(metrics.Sources{
			Tasks: func() []*messages.Snapshot { return []*messages.Snapshot{snapshot} }, Link: links, Bounds: &shed.Counts{},
			Mailboxes: func(each func(string, int, uint64)) { each(word(), 1, 1) },
		})
		m.Observe([]messages.Event{
			{Type: messages.EventType(word()), TaskID: messages.TaskID(word())},
			{Type: messages.EventDialogOpened, Dialog: &snapshot.PendingDialogs[0]},
			{Type: messages.EventDialogClosed, Closed: &messages.ClosedDialog{ClosedBy: messages.ClosedBy(word()), Promoted: true, Message: word()}},
			{Type: messages.EventPageChanged, Was: messages.PageState(word()), Page: &snapshot.Pages[0]},
			{Type: messages.EventPageClosed, Page: &snapshot.Pages[0]},
			{Type: messages.EventPageRecovery, Recovery: &messages.Recovery{Action: messages.RecoverAction(word()), Result: messages.RecoveryOutcome(word())}},
			{Type: messages.EventTaskState, State: messages.TaskState(word()), Outcome: messages.TaskOutcome(word()), Reason: word()},
			{Type: messages.EventConnection, Connection: &snapshot.Connection, Reason: word(), Reconnect: &messages.Reconnect{Cause: messages.ReconnectCause(word())}},
		})
		m.ActorStarted(word())
		m.ActorExited(word(), guard.Reason{Kind: guard.ReasonKind(rapid.Uint8().Draw(rt, "kind"))})
		m.ActorRestarted(word())
		m.ActorGaveUp(word())
		m.BrowserExited(word())
		m.AdmissionRejected(messages.LimitReason(word()))
		m.Answered(0, messages.Errorf(messages.Code(word()), "%s", word()))
		m.AuthFailed(word())
		m.Request(word(), rapid.Int().Draw(rt, "status"), false, 0)
		out := scrape(t, m)
		if diff := cmp.Diff(idle, series(out)); diff != "" {
			rt.Errorf("series (-idle +got):\n%s", diff)
		}
		if strings.Contains(out, "NaN") {
			rt.Error("a value is no number")
		}
	})
}

// TestTheHistogramOfCommandsIsThatOfTheLinks in both its forms: what the format
// makes of the buckets is undone here.
func TestTheHistogramOfCommandsIsThatOfTheLinks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		links := &transport.Stats{}
		for _, n := range rapid.SliceOf(rapid.Int64Range(0, int64(20*time.Minute))).Draw(rt, "took") {
			links.Commands.Add("Page.navigate", time.Duration(n), nil)
		}
		var want transport.Durations
		links.Commands.Each(func(d transport.Durations) {
			if d.Domain == "Page" && !d.HasFailed {
				want = d
			}
		})
		for _, f := range gather(t, metrics.New(metrics.Sources{Link: links})) {
			for _, m := range f.GetMetric() {
				if f.GetName() != "holdfast_cdp_command_duration_seconds" || m.GetLabel()[0].GetValue() != "Page" || m.GetLabel()[1].GetValue() != "ok" {
					continue
				}
				h := m.GetHistogram()
				got := transport.Durations{
					Domain: "Page", Count: h.GetSampleCount(), Sum: want.Sum, Zero: h.GetZeroCount(), Native: decoded(h), Within: make([]uint64, 3),
				}
				for i, b := range h.GetBucket() {
					got.Within[i] = b.GetCumulativeCount()
				}
				if diff := cmp.Diff(want, got); diff != "" || h.GetSampleSum() != want.Sum.Seconds() || h.GetSchema() != transport.DurationSchema {
					rt.Errorf("(-counted +shown)\n%s", diff)
				}
				return
			}
		}
		rt.Error("there is no such histogram")
	})
}

// decoded are the native buckets of h.
func decoded(h *dto.Histogram) map[int]uint64 {
	buckets, at, next, last := map[int]uint64{}, 0, 0, int64(0)
	for _, span := range h.GetPositiveSpan() {
		at += int(span.GetOffset())
		for range span.GetLength() {
			last += h.GetPositiveDelta()[next]
			buckets[at] = uint64(last)
			at, next = at+1, next+1
		}
	}
	return buckets
}
