package supervisor_test

import (
	"errors"
	"testing"
	"time"

	"holdfast/actors/supervisor"
	"holdfast/messages"
)

var errReset = errors.New("reset")

// attaches is what follows once the primary's link gen stands.
func (b *bench) attaches(gen messages.Generation) {
	b.Helper()
	b.step(messages.TargetAttached{Gen: gen, Session: "S", Page: "P", Info: messages.TargetInfo{ID: "P", Type: "page"}})
	b.step(messages.RootAttached{Gen: gen, Pages: []messages.TargetID{"P"}})
	b.step(messages.SessionReady{Gen: gen, Session: "S", Target: "P"})
	if s := b.m.Snapshot(); s.Connection.Primary != messages.LinkUp {
		b.Fatalf("after the attach: %+v", s.Connection)
	}
}

func TestAPageIsClosedAtOnceWhereTheAnchorIsOnNone(t *testing.T) {
	t.Parallel()
	b := attached(t)
	b.step(supervisor.AnchorStarting{Gen: 1})
	b.step(supervisor.AnchorExited{Err: errReset})
	b.step(supervisor.AnchorWaiting{})
	order := messages.ClosePage{Page: "P", Reply: func(any, error) {}}
	if !has[supervisor.ToBrowser](b.step(order)) {
		t.Error("it waits for an anchor that waits itself")
	}
}

// A browser that takes one client at a time ends the old link for the new one.
// Which of the two is heard of first is chance.
func TestABrowserThatTakesOneClientAtATimeIsKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cycle func(b *bench, gen messages.Generation)
		want  messages.AnchorOff
		after messages.Generation // 0: 3
	}{
		"the ends are heard of last": {func(b *bench, gen messages.Generation) {
			b.step(supervisor.AnchorLinked{Gen: gen})
			b.step(supervisor.BrowserExited{Err: errReset})
			b.step(supervisor.BrowserStarting{Gen: gen + 1})
			b.step(supervisor.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.step(supervisor.AnchorExited{Err: errReset})
			b.attaches(gen + 1)
		}, messages.AnchorOffSingle, 0},
		"the ends are heard of first": {func(b *bench, gen messages.Generation) {
			b.step(supervisor.BrowserExited{Err: errReset})
			b.step(supervisor.AnchorLinked{Gen: gen})
			b.step(supervisor.BrowserStarting{Gen: gen + 1})
			b.step(supervisor.AnchorExited{Err: errReset})
			b.step(supervisor.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.attaches(gen + 1)
		}, messages.AnchorOffSingle, 0},
		"the anchor is ended in its dial": {func(b *bench, gen messages.Generation) {
			b.step(supervisor.BrowserExited{Err: errReset})
			b.step(supervisor.BrowserStarting{Gen: gen + 1})
			b.step(supervisor.AnchorExited{Err: errReset})
			b.step(supervisor.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.attaches(gen + 1)
		}, messages.AnchorOffSingle, 0},
		"both have stood and fall together": {func(b *bench, gen messages.Generation) {
			b.step(supervisor.AnchorLinked{Gen: gen})
			b.step(messages.AnchorAttached{Gen: gen, Pages: []messages.TargetID{"P"}})
			b.step(messages.AnchorSettled{Gen: gen})
			b.step(supervisor.BrowserExited{Err: errReset})
			b.step(supervisor.AnchorExited{Err: errReset})
			b.step(supervisor.BrowserStarting{Gen: gen + 1})
			b.step(supervisor.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.attaches(gen + 1)
		}, "", 0},
		"the ends come late": {func(b *bench, gen messages.Generation) {
			b.step(supervisor.AnchorLinked{Gen: gen})
			b.step(messages.AnchorAttached{Gen: gen, Pages: []messages.TargetID{"P"}})
			b.step(messages.AnchorSettled{Gen: gen})
			b.now = b.now.Add(200 * time.Millisecond)
			b.step(supervisor.BrowserExited{Err: errReset})
			b.step(supervisor.BrowserStarting{Gen: gen + 1})
			b.step(supervisor.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.attaches(gen + 1)
			b.now = b.now.Add(200 * time.Millisecond)
			b.step(supervisor.AnchorExited{Err: errReset})
		}, messages.AnchorOffSingle, 10},
		"both are cut soon, and the anchor's end is heard of late": {func(b *bench, gen messages.Generation) {
			b.step(supervisor.AnchorLinked{Gen: gen})
			b.step(messages.AnchorAttached{Gen: gen, Pages: []messages.TargetID{"P"}})
			b.step(messages.AnchorSettled{Gen: gen})
			b.now = b.now.Add(50 * time.Millisecond)
			b.step(supervisor.BrowserExited{Err: errReset})
			b.step(supervisor.BrowserStarting{Gen: gen + 1})
			b.step(supervisor.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.now = b.now.Add(5 * time.Millisecond)
			b.step(supervisor.AnchorExited{Err: errReset})
			b.attaches(gen + 1)
		}, "", 0},
		"the anchor falls alone": {func(b *bench, gen messages.Generation) {
			b.step(supervisor.AnchorLinked{Gen: gen})
			b.step(supervisor.AnchorExited{Err: errReset})
		}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attached(t)
			for gen := range max(c.after, 3) {
				if off := b.m.Snapshot().Connection.AnchorOff; off != "" {
					t.Fatalf("after %d: %s", gen, off)
				}
				b.step(supervisor.AnchorStarting{Gen: gen + 1})
				c.cycle(b, gen+1)
				b.now = b.now.Add(time.Second)
			}
			if got := b.m.Snapshot().Connection.AnchorOff; got != c.want {
				t.Errorf("anchor_off %q, want %q", got, c.want)
			}
		})
	}
}
