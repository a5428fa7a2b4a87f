package metrics

import "holdfast/messages"

// totals are what the snapshots of all tasks add up to.
type totals struct {
	states map[messages.TaskState]int
	causes map[messages.PageState]int
	off    map[messages.AnchorOff]int

	dialogs, pages, frames, oopifs, truncated, primaries, anchors int

	oldest float64 // seconds
	used   float64 // of the time until the watchdog
}

func totalsOf(all []*messages.Snapshot, now messages.Seconds) totals {
	t := totals{
		states: map[messages.TaskState]int{}, causes: map[messages.PageState]int{}, off: map[messages.AnchorOff]int{},
	}
	for _, task := range all {
		t.add(task, now)
	}
	return t
}

func (t *totals) add(task *messages.Snapshot, now messages.Seconds) {
	t.states[task.State]++
	t.pages += len(task.Pages)
	for i := range task.Pages {
		t.causes[task.Pages[i].PageState]++
	}
	t.dialogs += len(task.PendingDialogs)
	for i := range task.PendingDialogs {
		d := &task.PendingDialogs[i]
		t.oldest = max(t.oldest, float64(now-d.OpenedAt))
		if life := d.ExpiresAt - d.OpenedAt; life > 0 {
			t.used = max(t.used, min(1, float64((now-d.OpenedAt)/life)))
		}
	}
	if task.Connection.Primary == messages.LinkUp {
		t.primaries++
	}
	if task.Connection.Anchor == messages.LinkUp {
		t.anchors++
	}
	if task.Active {
		t.off[task.Connection.AnchorOff]++
	}
	if task.FrameTree == nil {
		return
	}
	if task.FrameTree.Truncated {
		t.truncated++
	}
	t.frames += 1 + len(task.FrameTree.Children)
	for i := range task.FrameTree.Children {
		if task.FrameTree.Children[i].SessionID != "" {
			t.oopifs++
		}
	}
}
