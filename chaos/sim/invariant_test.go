package sim

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"

	"holdfast/chaos"
	"holdfast/messages"
)

// check holds the world to what is true at every quiet moment, in the middle of
// a recovery as well.
func (w *world) check() {
	w.checkCalls()
	w.checkProbes()
	w.checkPlaces()
	w.dialogs.check()
	w.checkClients()
	for _, h := range w.hosts {
		if h.now().IsDead() {
			w.violate("browser %d was killed by what was done to it (C15)", h.index)
		}
	}
	for _, t := range w.tasks {
		_, _, all := t.host.links(t.index)
		most := 1
		if t.plan.HasAnchor {
			most = 2
		}
		if len(all) > most {
			w.violate("%s has %d links", t.id, len(all))
		}
		s := t.snapshot()
		if s == nil {
			continue
		}
		if len(s.RecentDialogs) > messages.MaxRecentDialogs || len(s.ConsoleErrors) > messages.MaxConsoleErrors {
			w.violate("%s: a ring has overflowed", t.id)
		}
		if !s.Active && (s.Pages != nil || s.PendingDialogs != nil || s.FrameTree != nil) {
			w.violate("%s is %s and shows pages or dialogs", t.id, s.State)
		}
	}
}

// checkPlaces holds the node to counting what lives: there are as many places as tasks, so
// that one that leaks keeps a start waiting, and one that is given twice is one too many.
func (w *world) checkPlaces() {
	p := w.node.Pressure()
	active := 0
	for _, s := range w.node.Tasks() {
		if s.Active {
			active++
		}
	}
	if p.Running < active || p.Running > len(w.tasks) || p.Queued != 0 {
		w.violate("%d places are taken and %d starts wait, %d of %d tasks are active", p.Running, p.Queued, active, len(w.tasks))
	}
	for why, n := range p.RejectedLastMinute {
		if n != 0 && why != messages.LimitDraining {
			w.violate("%d starts were refused: %s", n, why)
		}
	}
}

// behindAnOrphan says whether a popup, or its opener, stands still behind a dialog or a
// loop in a page whose task was lost with its link. The other tasks' command to resume the
// popup waits there too, and goes with their links: no task is left that may end what they
// wait for.
func (w *world) behindAnOrphan(h *host, p chaos.Page) bool {
	return (w.orphans[p.Target] || w.orphans[p.Opener]) && (h.hangs(p.Target) || h.hangs(p.Opener) || h.waitsForPopup(p.Target))
}

// checkEnd holds the world to leaving nothing behind, and the metrics to saying
// what the events said.
func (w *world) checkEnd() {
	w.check()
	for _, what := range w.pendingCalls() {
		w.violate("%s never had an outcome", what)
	}
	for _, h := range w.hosts {
		for _, c := range h.now().Connections() {
			if !w.zombie(c) && !c.IsStalled() {
				w.violate("link %d of %s is left", c.Number(), c.Host())
			}
		}
		for _, p := range h.now().Pages() {
			if (p.IsHeld || p.IsFrozen) && len(w.zombies) == 0 && !w.behindAnOrphan(h, p) {
				w.violate("page %s is left frozen", w.trace.name("p", string(p.Target)))
			}
		}
	}
	m := w.metrics()
	for name, n := range m {
		if strings.HasPrefix(name, "holdfast_actors{") && n != 0 {
			w.violate("%s %d are left", name, n)
		}
	}
	if n := m[`holdfast_dead_letters_total{when="late"}`]; n != 0 {
		w.violate("%d messages to actors that were long gone", n)
	}
	if n := m["holdfast_actor_duplicate_ids_total"]; n != 0 {
		w.violate("%d actors under a taken id", n)
	}
	panics := 0
	for name, n := range m {
		if strings.Contains(name, `reason="panic"`) {
			panics += n
		}
		if strings.Contains(name, `reason="abandoned"`) && n > 0 {
			w.violate("%s %d", name, n)
		}
	}
	// One that breaks in its Terminate may have had a better reason to end.
	if most, least := w.breaker.count(); panics > most || panics < least {
		w.violate("%d actors have panicked, %d of them by design: %s", panics, most, w.breaker.fired)
	}
	w.counts.mu.Lock()
	defer w.counts.mu.Unlock()
	for typ, n := range w.counts.opened {
		got := 0
		for _, frame := range []string{"main", "oopif"} {
			for _, path := range []string{"native", "bridge"} {
				got += m[fmt.Sprintf(`holdfast_dialogs_opened_total{frame=%q,path=%q,type=%q}`, frame, path, typ)]
			}
		}
		if got != n {
			w.violate("%d dialogs of type %s are counted, the events say %d", got, typ, n)
		}
	}
	for by, n := range w.counts.closedBy {
		w.same(m, fmt.Sprintf(`holdfast_dialogs_closed_total{closed_by=%q}`, by), n)
	}
	reconnects := 0
	for name, n := range m {
		if strings.HasPrefix(name, "holdfast_upstream_reconnects_total{") && strings.Contains(name, `result="ok"`) {
			reconnects += n
		}
	}
	if reconnects != w.counts.reconnects {
		w.violate("%d reconnects are counted, the events say %d", reconnects, w.counts.reconnects)
	}
}

func (w *world) same(metrics map[string]int, name string, want int) {
	if got := metrics[name]; got != want {
		w.violate("%s is %d, the events say %d", name, got, want)
	}
}

// metrics scrapes the node's counters.
func (w *world) metrics() map[string]int {
	rec := httptest.NewRecorder()
	w.node.MetricsHandler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(rec.Body)
	if err != nil {
		w.violate("metrics: %v", err)
	}
	m := map[string]int{}
	for _, line := range strings.Split(string(body), "\n") {
		name, value, ok := strings.Cut(line, "} ")
		if ok {
			name += "}"
		} else if name, value, ok = strings.Cut(line, " "); !ok {
			continue
		}
		var f float64
		if _, err := fmt.Sscan(value, &f); err == nil {
			m[name] = int(f)
		}
	}
	return m
}
