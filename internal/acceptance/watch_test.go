package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdfast/messages"
)

// watched collects a task's events.
type watched struct {
	*task
	stream messages.EventStream
	seen   []messages.Event
}

// watch begins with the reset that holds the state as it is.
func (k *task) watch() *watched {
	k.Helper()
	w, err := k.node.Watch(k.ctx, k.id, 0, false)
	if err != nil {
		k.Fatalf("watch: %v", err)
	}
	k.Cleanup(w.Close)
	all := &watched{task: k, stream: w}
	all.until("the reset", func(messages.Event) bool { return true })
	return all
}

// until reads on until an event is as expected. What comes in one batch with
// it is seen too.
func (w *watched) until(what string, ok func(messages.Event) bool) messages.Event {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if i := slices.IndexFunc(w.seen, ok); i >= 0 {
		return w.seen[i]
	}
	for {
		events, err := w.stream.Next(ctx)
		if err != nil {
			w.Fatalf("%s: no such event (%v) among %d", what, err, len(w.seen))
		}
		w.seen = append(w.seen, events...)
		if i := slices.IndexFunc(events, ok); i >= 0 {
			return events[i]
		}
	}
}

// next reads on until the first event of a type that comes from now on.
func (w *watched) next(typ messages.EventType) messages.Event {
	w.Helper()
	w.seen = nil
	return w.until(string(typ), func(e messages.Event) bool { return e.Type == typ })
}

func TestWatch_EachChangeHasTheNextVersion(t *testing.T) {
	t.Parallel()
	k := setup(t).task("watch")
	stream := k.watch()
	first := stream.seen[0]
	if first.Type != messages.EventReset || first.Snapshot == nil || first.Version != first.Snapshot.Version {
		t.Fatalf("first event %+v", first)
	}
	k.goTo("http://a.test/oopif-prompt")
	k.later(k.frame("/prompt").FrameID, "ask()")
	d := k.dialog()
	opened := stream.until("the dialog", func(e messages.Event) bool { return e.Type == messages.EventDialogOpened })
	if opened.Dialog == nil || *opened.Dialog != d {
		t.Errorf("event %+v, dialog %+v", opened.Dialog, d)
	}
	k.accept("x")
	k.eval("", "console.error('for the stream'); 0")
	stream.until("the error", func(e messages.Event) bool { return e.Type == messages.EventConsoleError })
	if err := k.node.StopTask(k.ctx, k.id); err != nil {
		t.Fatal(err)
	}
	stream.until("the end", func(e messages.Event) bool { return e.State == messages.StateStopped })
	if _, err := stream.stream.Next(k.ctx); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
	kinds := map[messages.EventType]bool{}
	for i, e := range stream.seen {
		kinds[e.Type] = true
		if e.TaskID != k.id || i > 0 && e.Version != stream.seen[i-1].Version+1 {
			t.Errorf("event %d: version %d of %s after %d", i, e.Version, e.TaskID, stream.seen[max(0, i-1)].Version)
		}
	}
	for _, typ := range []messages.EventType{
		messages.EventPageChanged, messages.EventFrames, messages.EventDialogOpened, messages.EventDialogClosed,
		messages.EventConsoleError, messages.EventTaskState,
	} {
		if !kinds[typ] {
			t.Errorf("no event %s", typ)
		}
	}
	if last := stream.seen[len(stream.seen)-1]; last.Version != k.snapshot().Version {
		t.Errorf("the last event is version %d, the snapshot %d", last.Version, k.snapshot().Version)
	}
}

func TestEvents_LastEventIDGivesExactlyWhatWasMissed(t *testing.T) {
	t.Parallel()
	k := setup(t).task("sse")
	k.goTo("http://a.test/confirm")
	door := k.door()
	reader := k.watch() // from before the head on: the anchor may come up at any time
	head := door.read(k.id, "", func(sseEvent) bool { return true })
	if head[0].name != "reset" || head[0].data.Snapshot == nil || head[0].id != strconv.FormatUint(head[0].data.Version, 10) {
		t.Fatalf("a first reader gets %+v", head[0])
	}

	// Without a reader over HTTP.
	for range 3 {
		k.later("", "ask()")
		k.dialog()
		k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
	}
	last := func(e messages.Event) bool { return e.Closed != nil && e.Closed.ID == "d-3" }
	reader.until("the third end", last)
	missed := door.read(k.id, head[0].id, func(e sseEvent) bool { return last(e.data) })

	var want, got []messages.Event
	for _, e := range reader.seen {
		if e.Version > head[0].data.Version && e.Version <= missed[len(missed)-1].data.Version {
			want = append(want, e)
		}
	}
	opened := 0
	for i, e := range missed {
		got = append(got, e.data)
		if e.name != string(e.data.Type) || e.id != strconv.FormatUint(e.data.Version, 10) || e.data.Version != head[0].data.Version+uint64(i)+1 {
			t.Errorf("event %d is %s %s %+v", i, e.id, e.name, e.data)
		}
		if e.data.Type == messages.EventDialogOpened {
			opened++
		}
	}
	if diff := cmp.Diff(mustJSON(t, want), mustJSON(t, got)); diff != "" {
		t.Errorf("missed and resumed differ: %s", diff)
	}
	if opened != 3 {
		t.Errorf("%d dialogs opened in the stream", opened)
	}

	t.Run("a version of the future is answered by a reset", func(t *testing.T) {
		if all := door.read(k.id, "99999999", func(sseEvent) bool { return true }); all[0].name != "reset" {
			t.Errorf("got %+v", all[0])
		}
	})
	t.Run("what is gone is answered by a reset", func(t *testing.T) {
		for n := 400; n <= 1200; n += 400 { // not all at once: a storm is shed
			k.eval("", fmt.Sprintf("for (let i = %d; i < %d; i++) console.error(i); 0", n-400, n))
			last := strconv.Itoa(n - 1)
			reader.until("error "+last, func(e messages.Event) bool { return e.Console != nil && e.Console.Text == last })
		}
		all := door.read(k.id, head[0].id, func(sseEvent) bool { return true })
		if all[0].name != "reset" || all[0].data.Snapshot == nil {
			t.Errorf("got %+v", all[0])
		}
	})
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
