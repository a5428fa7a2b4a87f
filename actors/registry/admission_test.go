package registry_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"holdfast/actors/registry"
	"holdfast/internal/pressure"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The acceptance of X4.
func TestX4TenRunTenWaitTenAreRefused(t *testing.T) {
	t.Parallel()
	h := newHall(t, messages.Limits{MaxTasks: 10, QueueLength: 10})
	name := func(n int) string { return fmt.Sprintf("t%02d", n) }
	for n := range 30 {
		h.ask(name(n), attaching)
	}
	counts := map[string]int{}
	for n := range 30 {
		counts[h.outcomes[name(n)]]++
	}
	if counts["started"] != 10 || counts[waits] != 10 || counts["queue_full"] != 10 {
		t.Errorf("%v", counts)
	}
	if s := h.m.Status(h.now); s.Running != 10 || s.Queued != 10 || !s.IsFull || s.Lacks != messages.LimitTasks {
		t.Errorf("%+v", s)
	}
	if d := h.errs["t29"].Details; d["limit"] != 10 || d["running"] != 10 || d["queued"] != 10 || d["waiting_for"] != messages.LimitTasks {
		t.Errorf("%v", d)
	}
	h.began = nil
	for n := range 10 {
		h.stop(messages.TaskID(name(n)))
		h.wantBegan(name(10 + n))
		h.want("started", name(10+n))
	}
	if s := h.m.Status(h.now); s.Running != 10 || s.Queued != 0 || s.IsFull {
		t.Errorf("%+v", s)
	}
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	story := func(name string, l messages.Limits, f func(h *hall)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(newHall(t, l))
		})
	}
	one := messages.Limits{MaxTasks: 1}

	story("who does not want to wait is told at once what is missing", messages.Limits{MaxTasks: 2, MaxBrowsers: 1}, func(h *hall) {
		h.ask("a", launching)
		h.ask("b", launching, 0)
		h.want("browsers", "b")
		h.ask("c", attaching, 0)
		h.ask("d", attaching, 0)
		h.want("started", "c")
		h.want("tasks", "d")
		if d := h.errs["d"].Details; d["limit"] != 2 || d["waiting_for"] != nil {
			h.Errorf("%v", d)
		}
	})
	story("a caller waits as long as it said, and no longer than the node lets it", messages.Limits{MaxTasks: 1, QueueTimeout: 20 * time.Second}, func(h *hall) {
		h.ask("a", attaching)
		h.ask("b", attaching, 5)
		h.ask("c", attaching, 300)
		h.ask("d", attaching)
		h.after(5*time.Second - 1)
		h.want(waits, "b", "c", "d")
		h.after(1)
		h.want("queue_deadline", "b")
		h.after(15 * time.Second)
		h.want("queue_deadline", "c", "d")
		if s := h.m.Status(h.now); s.Queued != 0 {
			h.Errorf("%+v", s)
		}
		h.exit("a")
		h.wantBegan("a")
	})
	story("each caller of a start has a deadline of its own, and the start waits for the last", one, func(h *hall) {
		h.ask("a", attaching)
		h.ask("t", attaching, 5)
		h.ask("u", attaching)
		h.ask("t#second", attaching, 10)
		if s := h.m.Status(h.now); s.Queued != 2 {
			h.Errorf("%+v", s)
		}
		h.after(6 * time.Second)
		h.want("queue_deadline", "t")
		h.stop("a")
		h.want("started", "t#second") // at the place of the first
		h.want(waits, "u")
	})
	story("who asks for a start that waits, and would not wait, changes nothing", one, func(h *hall) {
		h.ask("a", attaching)
		h.ask("t", attaching)
		h.ask("t#second", attaching, 0)
		h.ask("t#other", at(2), 0)
		h.want("tasks", "t#second", "t#other")
		h.want(waits, "t")
		h.stop("a")
		h.want("started", "t")
	})
	story("another browser supersedes a start that waits, at its place", one, func(h *hall) {
		h.ask("a", attaching)
		h.ask("t", attaching)
		h.ask("u", attaching)
		h.ask("t#other", at(2))
		h.want("upstream_unavailable", "t")
		h.stop("a")
		h.want("started", "t#other")
		h.want(waits, "u")
	})
	story("a caller that goes away leaves the queue at once", one, func(h *hall) {
		h.ask("a", attaching)
		h.ask("b", attaching)
		h.ask("c", attaching)
		h.step(mail.AbandonStart{ID: "c", Ticket: h.tickets["b"]}) // no such pair
		h.step(mail.AbandonStart{ID: "b", Ticket: h.tickets["b"]})
		h.want("deadline", "b")
		h.stop("a")
		h.want("started", "c")
		h.step(mail.AbandonStart{ID: "c", Ticket: h.tickets["c"]}) // a start that has begun continues
		if h.m.Running() != 1 {
			h.Error(h.m.Running())
		}
	})
	story("a task that is stopped while it waits leaves the queue", one, func(h *hall) {
		h.ask("a", attaching)
		h.ask("b", attaching)
		h.ask("b#second", attaching)
		stopped := false
		h.step(mail.StopTask{ID: "b", Reply: calls.Open(func(any, error) { stopped = true })})
		h.want("upstream_unavailable", "b", "b#second")
		if s := h.m.Status(h.now); s.Queued != 0 || !stopped {
			h.Errorf("%+v %v", s, stopped)
		}
	})
	story("a task that attaches passes one that waits for a browser, and takes nothing from it", messages.Limits{MaxTasks: 3, MaxBrowsers: 1}, func(h *hall) {
		h.ask("l1", launching)
		h.ask("l2", launching)
		h.ask("l3", launching)
		h.ask("a1", attaching)
		h.ask("a2", attaching)
		h.wantBegan("l1", "a1", "a2")
		h.ask("a3", attaching)
		h.want(waits, "l2", "l3", "a3")
		h.stop("l1")
		h.wantBegan("l2") // not a3: a browser's place comes with a task's
		h.stop("a1")
		h.wantBegan("a3")
		h.stop("l2")
		h.wantBegan("l3")
	})
	story("a tenant has no more tasks, running or waiting, than it may (X4)", messages.Limits{MaxTasks: 2, MaxTenantTasks: 2}, func(h *hall) {
		h.ask("acme:1", attaching)
		h.ask("other", attaching)
		h.ask("acme:2", attaching)
		h.ask("acme:3", attaching)
		h.ask("acme:2#second", attaching)
		h.ask("acme:1#same", at(2))
		h.want(waits, "acme:2", "acme:2#second")
		h.want("quota", "acme:3")
		if d := h.errs["acme:3"].Details; d["limit"] != 2 || d["waiting_for"] != nil {
			h.Errorf("%v", d)
		}
		h.ask("acme", attaching)
		h.ask("one:1", attaching)
		h.ask("", attaching)
		h.want(waits, "acme", "one:1", "") // other tenants, and none
		h.exit("acme:1")
		h.want("started", "acme:1#same")
		h.stop("acme:1")
		h.want("started", "acme:2")
		h.ask("acme:4", attaching)
		h.want(waits, "acme:4")
	})
	story("a rebind keeps its place and never waits", messages.Limits{MaxTasks: 2, MaxBrowsers: 1}, func(h *hall) {
		h.ask("l", launching)
		h.ask("t", attaching)
		h.ask("waits", attaching)
		h.ask("t#other", at(2))
		h.exit("t")
		h.want("started", "t#other")
		h.ask("t#launch", launching)
		h.want("browsers", "t#launch") // refused before anything is stopped
		h.ask("t#same", at(2))
		h.want("runs", "t#same")
		h.ask("l#attach", attaching) // gives its browser's place back, keeps the task's
		h.exit("l")
		h.want("started", "l#attach")
		h.ask("t#again", launching)
		h.exit("t")
		h.want("started", "t#again")
		h.want(waits, "waits")
	})
	story("a browser's place is held from the moment a rebind asks for it", messages.Limits{MaxBrowsers: 1}, func(h *hall) {
		h.ask("t", attaching)
		h.ask("t#launch", launching)
		h.ask("l", launching, 0)
		h.want("browsers", "l")
		h.step(mail.StopTask{ID: "t"}) // gives it back
		h.ask("m", launching, 0)
		h.want("started", "m")
	})
	story("a task that was lost has no place", one, func(h *hall) {
		h.ask("a", attaching)
		h.ask("b", attaching)
		h.step(registry.SupervisorExited{ID: "a", Gen: 1, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "gone")})
		h.want("started", "b")
		h.ask("a#again", attaching, 0)
		h.want("tasks", "a#again")
	})
	story("new limits end nothing, and start who waits", messages.Limits{MaxTasks: 3, QueueLength: 5}, func(h *hall) {
		for _, n := range []string{"a", "b", "c", "d", "e"} {
			h.ask(n, attaching)
		}
		h.step(registry.SetLimits{Limits: messages.Limits{MaxTasks: 1, QueueLength: -1}})
		if s := h.m.Status(h.now); s.Running != 3 || s.Queued != 2 || s.Limits.MaxTasks != 1 {
			h.Errorf("%+v", s)
		}
		h.ask("f", attaching)
		h.want("tasks", "f") // no other start may wait
		h.stop("a")
		h.stop("b")
		h.want(waits, "d", "e")
		h.step(registry.SetLimits{Limits: messages.Limits{MaxTasks: 2}})
		h.want("started", "d")
		h.step(registry.SetLimits{Limits: messages.Limits{MaxTasks: 9}})
		h.want("started", "e")
	})
	story("a shorter life is for those that start from then on", messages.Limits{IdleTimeout: time.Hour, MaxLife: time.Hour}, func(h *hall) {
		h.ask("old", attaching)
		h.step(registry.SetLimits{Limits: messages.Limits{IdleTimeout: time.Minute, MaxLife: 2 * time.Hour}})
		h.step(registry.SetLimits{Limits: messages.Limits{IdleTimeout: time.Minute, MaxLife: time.Minute}})
		h.ask("new", attaching)
		stopped := func(after, idle time.Duration) (ids []messages.TaskID) {
			for _, e := range h.m.Step(h.now.Add(after), registry.Sweep{IdleFor: func(messages.TaskID) time.Duration { return idle }}) {
				if e, ok := e.(registry.ToSupervisor); ok {
					ids = append(ids, e.ID)
				}
			}
			return ids
		}
		if ids := stopped(time.Second, time.Hour); !slices.Equal(ids, []messages.TaskID{"new"}) {
			h.Error(ids)
		}
		if ids := stopped(2*time.Hour, 0); ids != nil {
			h.Error(ids)
		}
		if ids := stopped(2*time.Hour+1, 0); !slices.Equal(ids, []messages.TaskID{"old"}) {
			h.Error(ids)
		}
	})
	story("draining empties the queue and refuses what is new", messages.Limits{MaxTasks: 2}, func(h *hall) {
		for _, n := range []string{"a", "b", "c"} {
			h.ask(n, attaching)
		}
		h.step(registry.Drain{})
		h.step(registry.Drain{})
		h.want("draining", "c")
		h.ask("d", attaching)
		h.ask("a#other", at(2))
		h.want("draining", "d", "a#other")
		h.ask("a#same", attaching)
		h.want("runs", "a#same")
		h.stop("b")
		if s := h.m.Status(h.now); s.Running != 1 || !s.IsDraining || !s.IsFull || s.Lacks != messages.LimitDraining {
			h.Errorf("%+v", s)
		}
	})
	story("memory holds up starts with hysteresis (X5)", messages.Limits{MemoryHigh: 0.9, MemoryLow: 0.8}, func(h *hall) {
		h.ask("a", attaching)
		h.step(memory(0.89))
		h.ask("b", attaching)
		h.want("started", "a", "b")
		h.step(memory(0.9))
		h.ask("c", attaching, 0)
		h.want("memory", "c")
		if d := h.errs["c"].Details; d["limit"] != 0.9 {
			h.Errorf("%v", d)
		}
		h.ask("d", attaching)
		h.step(memory(0.81))
		h.want(waits, "d")
		h.ask("a#same", attaching)
		h.want("runs", "a#same")
		h.step(memory(0.8))
		h.want("started", "d")
		h.step(memory(0.89))
		h.ask("e", attaching, 0)
		h.want("started", "e")
		if got := fmt.Sprint(h.said); got != "[memory high memory ok]" {
			h.Error(got)
		}
	})
	story("what new thresholds do is said as well", messages.Limits{}, func(h *hall) {
		h.step(memory(0.6))
		h.step(registry.SetLimits{Limits: messages.Limits{MemoryHigh: 0.5}})
		h.step(memory(0.6))
		h.step(memory(0.6))
		h.step(registry.SetLimits{})
		h.step(memory(0.6))
		if got := fmt.Sprint(h.said); got != "[memory high memory ok]" {
			h.Error(got)
		}
		h.step(registry.SetLimits{Limits: messages.Limits{MemoryHigh: 0.5}})
		h.step(memory(0.6))
		h.step(registry.SetLimits{Limits: messages.Limits{MemoryHigh: -1}}) // which says it all
		h.step(registry.SetLimits{Limits: messages.Limits{MemoryHigh: 0.5}})
		h.step(memory(0.6))
		if got := fmt.Sprint(h.said[2:]); got != "[memory high memory high]" {
			h.Error(got)
		}
	})
	story("what cannot be read holds up nobody, and is said once", messages.Limits{}, func(h *hall) {
		unreadable := registry.Measured{Sample: pressure.Sample{Memory: pressure.Level{Err: pressure.ErrUnreadable}, CPU: pressure.Level{Err: pressure.ErrUnreadable}}}
		h.step(memory(0.99))
		h.ask("a", attaching)
		h.step(unreadable)
		h.step(unreadable)
		h.want("started", "a")
		if got := fmt.Sprint(h.said); got != "[memory high memory unknown]" {
			h.Error(got)
		}
	})
	story("thresholds can be switched off and on", messages.Limits{MemoryHigh: -1, CPUHigh: 0.5}, func(h *hall) {
		h.step(registry.Measured{Sample: pressure.Sample{Memory: pressure.Level{Used: 1}, CPU: pressure.Level{Used: 0.5}}})
		h.ask("a", attaching, 0)
		h.want("cpu", "a")
		h.step(registry.SetLimits{Limits: messages.Limits{CPUHigh: 0.6, CPULow: 0.4, MemoryHigh: -1}})
		h.ask("a#2", attaching, 0)
		h.want("cpu", "a#2") // between the two it stays as it is
		h.step(registry.SetLimits{Limits: messages.Limits{MemoryHigh: -1}})
		h.ask("b", attaching, 0)
		h.want("started", "b")
		if h.m.NeedsMeasures() {
			h.Error("measures for nothing")
		}
		h.step(registry.SetLimits{})
		h.ask("c", attaching, 0)
		h.want("memory", "c")
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	after := func(h *hall, name string) any { return h.errs[name].Details["retry_after_s"] }
	t.Run("by how fast places came free lately", func(t *testing.T) {
		h := newHall(t, messages.Limits{MaxTasks: 4, QueueLength: 1})
		for _, n := range []string{"a", "b", "c", "d"} {
			h.ask(n, attaching)
		}
		h.now = h.now.Add(time.Minute)
		h.ask("blind", attaching, 0)
		for _, n := range []messages.TaskID{"a", "b", "c"} {
			h.stop(n)
			h.ask(string(n)+"#again", attaching)
			h.now = h.now.Add(4 * time.Second)
		}
		h.ask("now", attaching, 0)
		if after(h, "blind") != 10 || after(h, "now") != 4 {
			t.Error(after(h, "blind"), after(h, "now"))
		}
		h.ask("waits", attaching, 2)
		h.ask("full", attaching)
		if after(h, "full") != 2 { // then the one that waits gives up
			t.Error(after(h, "full"))
		}
	})
	t.Run("within bounds", func(t *testing.T) {
		h := newHall(t, messages.Limits{MaxTasks: 1, QueueLength: 1})
		h.ask("a", attaching)
		h.ask("b", attaching)
		h.ask("c", attaching)
		h.stop("a")
		h.ask("c#2", attaching)
		h.ask("d", attaching)
		if after(h, "d") != 1 {
			t.Error(after(h, "d"))
		}
		h.now = h.now.Add(4 * time.Minute)
		h.ask("e", attaching, 0)
		if after(h, "e") != 60 {
			t.Error(after(h, "e"))
		}
	})
}
