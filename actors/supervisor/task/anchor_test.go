package task_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

var errReset = errors.New("reset")

// attaches is what follows once the primary's link gen stands.
func (b *bench) attaches(gen mail.Generation) {
	b.Helper()
	b.step(mail.TargetAttached{Gen: gen, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
	b.step(mail.RootAttached{Gen: gen, Pages: []messages.TargetID{"P"}})
	b.step(mail.SessionReady{Gen: gen, Session: "S", Target: "P"})
	if s := b.m.Snapshot(); s.Connection.Primary != messages.LinkUp {
		b.Fatalf("after the attach: %+v", s.Connection)
	}
}

func TestAPageIsClosedAtOnceWhereTheAnchorIsOnNone(t *testing.T) {
	t.Parallel()
	b := attached(t)
	b.step(step.AnchorStarting{Gen: 1})
	b.step(step.AnchorExited{Err: errReset})
	b.step(step.AnchorWaiting{})
	order := mail.ClosePage{Page: "P", Reply: calls.Open(func(any, error) {})}
	if !has[step.ToBrowser](b.step(order)) {
		t.Error("it waits for an anchor that waits itself")
	}
}

// A browser that takes one client at a time ends the old link for the new one.
// Which of the two is heard of first is chance.
func TestABrowserThatTakesOneClientAtATimeIsKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cycle func(b *bench, gen mail.Generation)
		want  messages.AnchorOff
		after mail.Generation // 0: 3
	}{
		"the ends are heard of last": {func(b *bench, gen mail.Generation) {
			b.step(step.AnchorLinked{Gen: gen})
			b.step(step.BrowserExited{Err: errReset})
			b.step(step.BrowserStarting{Gen: gen + 1})
			b.step(step.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.step(step.AnchorExited{Err: errReset})
			b.attaches(gen + 1)
		}, messages.AnchorOffSingle, 0},
		"the ends are heard of first": {func(b *bench, gen mail.Generation) {
			b.step(step.BrowserExited{Err: errReset})
			b.step(step.AnchorLinked{Gen: gen})
			b.step(step.BrowserStarting{Gen: gen + 1})
			b.step(step.AnchorExited{Err: errReset})
			b.step(step.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.attaches(gen + 1)
		}, messages.AnchorOffSingle, 0},
		"the anchor is ended in its dial": {func(b *bench, gen mail.Generation) {
			b.step(step.BrowserExited{Err: errReset})
			b.step(step.BrowserStarting{Gen: gen + 1})
			b.step(step.AnchorExited{Err: errReset})
			b.step(step.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.attaches(gen + 1)
		}, messages.AnchorOffSingle, 0},
		"both have stood and fall together": {func(b *bench, gen mail.Generation) {
			b.step(step.AnchorLinked{Gen: gen})
			b.step(mail.AnchorAttached{Gen: gen, Pages: []messages.TargetID{"P"}})
			b.step(mail.AnchorSettled{Gen: gen})
			b.step(step.BrowserExited{Err: errReset})
			b.step(step.AnchorExited{Err: errReset})
			b.step(step.BrowserStarting{Gen: gen + 1})
			b.step(step.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.attaches(gen + 1)
		}, "", 0},
		"the ends come late": {func(b *bench, gen mail.Generation) {
			b.step(step.AnchorLinked{Gen: gen})
			b.step(mail.AnchorAttached{Gen: gen, Pages: []messages.TargetID{"P"}})
			b.step(mail.AnchorSettled{Gen: gen})
			b.now = b.now.Add(200 * time.Millisecond)
			b.step(step.BrowserExited{Err: errReset})
			b.step(step.BrowserStarting{Gen: gen + 1})
			b.step(step.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.attaches(gen + 1)
			b.now = b.now.Add(200 * time.Millisecond)
			b.step(step.AnchorExited{Err: errReset})
		}, messages.AnchorOffSingle, 10},
		"both are cut soon, and the anchor's end is heard of late": {func(b *bench, gen mail.Generation) {
			b.step(step.AnchorLinked{Gen: gen})
			b.step(mail.AnchorAttached{Gen: gen, Pages: []messages.TargetID{"P"}})
			b.step(mail.AnchorSettled{Gen: gen})
			b.now = b.now.Add(50 * time.Millisecond)
			b.step(step.BrowserExited{Err: errReset})
			b.step(step.BrowserStarting{Gen: gen + 1})
			b.step(step.Linked{Gen: gen + 1, Endpoint: "ws://h/***"})
			b.now = b.now.Add(5 * time.Millisecond)
			b.step(step.AnchorExited{Err: errReset})
			b.attaches(gen + 1)
		}, "", 0},
		"the anchor falls alone": {func(b *bench, gen mail.Generation) {
			b.step(step.AnchorLinked{Gen: gen})
			b.step(step.AnchorExited{Err: errReset})
		}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attached(t)
			for gen := range max(c.after, 3) {
				if off := b.m.Snapshot().Connection.AnchorOff; off != "" {
					t.Fatalf("after %d: %s", gen, off)
				}
				b.step(step.AnchorStarting{Gen: gen + 1})
				c.cycle(b, gen+1)
				b.now = b.now.Add(time.Second)
			}
			if got := b.m.Snapshot().Connection.AnchorOff; got != c.want {
				t.Errorf("anchor_off %q, want %q", got, c.want)
			}
		})
	}
}

// An anchor that is stopped has its link's end to wait for, and the supervisor has one
// child of a name.
func TestTheNextAnchorStartsOnceTheLastHasEnded(t *testing.T) {
	t.Parallel()
	spec := func(anchor messages.Anchor) any {
		return mail.UpdateSpec{Spec: messages.TaskSpec{Anchor: anchor}.WithDefaults()}
	}
	off, auto, exited := spec(messages.AnchorNone), spec(messages.AnchorAuto), step.AnchorExited{}
	foreign := mail.AnchorAttached{Gen: 1, Pages: []messages.TargetID{"X"}}
	lost := step.BrowserExited{Err: errReset}
	back := []any{
		step.BrowserStarting{Gen: 2},
		step.Linked{Gen: 2},
		mail.TargetAttached{Gen: 2, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}},
		mail.RootAttached{Gen: 2, Pages: []messages.TargetID{"P"}},
		mail.SessionReady{Gen: 2, Session: "S", Target: "P"},
	}
	for name, c := range map[string]struct {
		ins    []any
		starts int // with the last of them
		state  messages.LinkState
		off    messages.AnchorOff
	}{
		"off and auto": {[]any{off, auto}, 0, messages.LinkDialing, ""},
		"and its end":  {[]any{off, auto, exited}, 1, messages.LinkDialing, ""},
		"and its end, which it did not come to in good order": {[]any{off, auto, step.AnchorExited{Err: errReset}}, 1, messages.LinkDialing, ""},
		"which it had come to before":                         {[]any{off, exited, auto}, 1, messages.LinkDialing, ""},
		"while it waited for its restart":                     {[]any{step.AnchorExited{Err: errReset}, step.AnchorWaiting{}, off, auto}, 1, messages.LinkDialing, ""},
		"off again":                                           {[]any{off, auto, off, exited}, 0, messages.LinkDown, messages.AnchorOffSpec},
		"and auto again":                                      {[]any{off, auto, off, auto, exited}, 1, messages.LinkDialing, ""},
		"after the word that its browser is another":          {[]any{foreign, off, auto}, 0, messages.LinkDialing, ""},
		"and the end of that":                                 {[]any{foreign, off, auto, exited}, 1, messages.LinkDialing, ""},
		"what it says on its way out is not the next one's":   {[]any{off, auto, mail.AnchorSettled{Gen: 1}}, 0, messages.LinkDialing, ""},
		"nor is what it saw":                                  {[]any{off, foreign, auto, foreign}, 0, messages.LinkDialing, ""},
		"the primary falls meanwhile":                         {[]any{off, auto, lost, exited}, 0, messages.LinkDown, ""},
		"and is back":                                         {append([]any{off, auto, lost, exited}, back...), 1, messages.LinkDialing, ""},
		"and is back first":                                   {slices.Concat([]any{off, auto, lost}, back, []any{exited}), 1, messages.LinkDialing, ""},
		"the task ends meanwhile":                             {[]any{off, auto, mail.StopTask{}, exited}, 0, messages.LinkDown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attached(t)
			b.step(step.AnchorStarting{Gen: 1})
			b.step(step.AnchorLinked{Gen: 1})
			living, starts := 1, 0
			for _, in := range c.ins {
				if _, ok := in.(step.AnchorExited); ok {
					living = 0
				}
				starts = 0
				for _, e := range b.step(in) {
					if _, ok := e.(step.StartAnchor); ok {
						starts++
					}
				}
				if living+starts > 1 {
					t.Fatalf("%T: one is started while one lives", in)
				}
			}
			if got := b.m.Snapshot().Connection; starts != c.starts || got.Anchor != c.state || got.AnchorOff != c.off {
				t.Errorf("%d starts, %s, %q; want %d, %s, %q", starts, got.Anchor, got.AnchorOff, c.starts, c.state, c.off)
			}
		})
	}
}

// Its link may be attached to every page for as long as its actor lives (C15, C19).
func TestAnAnchorOnItsWayOutIsOnItsPagesStill(t *testing.T) {
	t.Parallel()
	off := mail.UpdateSpec{Spec: messages.TaskSpec{Anchor: messages.AnchorNone}.WithDefaults()}
	closes := mail.ClosePage{Page: "P", Reply: calls.Open(func(any, error) {})}
	for name, ins := range map[string][]any{
		"a page is closed after it":  {off, closes},
		"a page is closed before it": {closes, off},
		"the task ends after it":     {off, mail.StopTask{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attached(t)
			b.step(step.AnchorStarting{Gen: 1})
			b.step(step.AnchorLinked{Gen: 1})
			for _, in := range ins {
				if has[step.ToBrowser](b.step(in)) {
					t.Errorf("%T: the browser is told before the anchor has ended", in)
				}
			}
			if !has[step.ToBrowser](b.step(step.AnchorExited{})) {
				t.Error("the browser is not told once it has")
			}
		})
	}
}
