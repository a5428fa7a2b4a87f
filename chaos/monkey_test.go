package chaos_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"holdfast/chaos"
	"holdfast/messages"
)

var monkeys = flag.Uint64("monkeys", 20, "how many seeds TestMonkey plays")

// TestMonkey lets pages do what they like while a client follows the recipe,
// and then rebuilds the forest the way a supervisor has to (C36): what the
// sessions' frame trees say together is what the world really is.
func TestMonkey(t *testing.T) {
	t.Parallel()
	for seed := range *monkeys {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { monkey(t, seed) })
		})
	}
}

func monkey(t *testing.T, seed uint64) {
	w := open(t, chaos.Options{Seed: seed, Pages: 2})
	c := w.dial()
	c.attach()
	m := rand.New(rand.NewPCG(seed, 0))
	handled := 0
	for range 60 {
		synctest.Wait()
		handled = c.followRecipe(handled)
		synctest.Wait()
		act(w, m)
		if m.IntN(3) == 0 {
			unspin(w)
		}
	}
	for range 60 { // each may have another one waiting behind it
		unspin(w)
	}
	// Whatever is still open is closed: a page under a dialog shows no tree.
	for _, p := range w.b.Pages() {
		w.b.Navigate(p.Target, "http://end.test/p")
	}
	for _, p := range w.b.Pages() {
		w.b.AddFrame(w.b.MainFrame(p.Target), "http://b.test/x")
	}
	for range 4 { // frames of frames attach one after the other
		synctest.Wait()
		unspin(w)
		handled = c.followRecipe(handled)
	}
	synctest.Wait()
	if w.b.IsDead() {
		return // a frame was removed under its dialog, and the page continued
	}

	var want, got []string
	trees := map[string]int{}
	for _, f := range w.b.Frames() {
		want = append(want, fmt.Sprint(f.ID, f.Parent, f.URL))
		for _, s := range w.b.Sessions(f.Target) {
			if _, asked := trees[string(s.ID)]; !asked {
				trees[string(s.ID)] = c.send(string(s.ID), "Page.getFrameTree", "")
			}
		}
	}
	synctest.Wait()
	for session, id := range trees {
		var reply struct{ FrameTree tree }
		if err := json.Unmarshal(c.reply(id).Result, &reply); err != nil {
			t.Fatalf("seed %d: session %s has no tree: %s %+v", seed, session, c.reply(id).raw, w.b.Frames())
		}
		got = reply.FrameTree.list(got)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("seed %d: the trees say\n%v\nthe world is\n%v %+v", seed, got, want, w.b.Pages())
	}
}

type tree struct {
	Frame       struct{ ID, ParentID, URL string }
	ChildFrames []tree
}

func (t tree) list(out []string) []string {
	out = append(out, fmt.Sprint(t.Frame.ID, t.Frame.ParentID, t.Frame.URL))
	for _, child := range t.ChildFrames {
		out = child.list(out)
	}
	return out
}

// followRecipe sends the batch to every session that came, or came back from a
// crash, since the client had heard n messages.
func (c *client) followRecipe(n int) int {
	all := c.all()
	for _, m := range all[n:] {
		switch m.Method {
		case "Target.attachedToTarget":
			c.batch(str(m.Params, "sessionId"))
		case "Inspector.targetReloadedAfterCrash":
			c.batch(m.SessionID)
		}
	}
	return len(all)
}

func unspin(w *world) {
	for _, f := range w.b.Frames() {
		w.b.Unspin(f.Target)
	}
}

func act(w *world, m *rand.Rand) {
	pages, frames := w.b.Pages(), w.b.Frames()
	if len(pages) == 0 {
		w.b.NewPage("about:blank")
		return
	}
	page, frame := pages[m.IntN(len(pages))], frames[m.IntN(len(frames))]
	url := fmt.Sprintf("http://%c.test/%d", 'a'+m.IntN(4), m.IntN(9))
	switch m.IntN(14) {
	case 0, 1, 2, 3:
		if len(frames) < 40 {
			w.b.AddFrame(frame.ID, url)
		}
	case 4, 5:
		w.b.NavigateFrame(frame.ID, url)
	case 6:
		if !page.IsPoisoned && !frame.HasDialog {
			w.b.RemoveFrame(frame.ID)
		}
	case 7:
		if !page.IsPoisoned {
			w.b.Navigate(page.Target, url)
		}
	case 8:
		if len(pages) < 6 {
			w.b.OpenPopup(frame.ID, url)
		}
	case 9:
		if page.Dialogs == 0 {
			d := w.b.OpenDialog(messages.FrameID(page.Target), chaos.Confirm, "m", "")
			w.b.CloseDialog(d, m.IntN(2) == 0, "")
		}
	case 10:
		w.b.Crash(page.Target)
		w.b.Navigate(page.Target, url)
	case 11: // ends with one of the next actions
		w.b.Spin(page.Target)
	case 12:
		if len(pages) > 2 {
			w.b.ClosePage(page.Target)
		}
	case 13:
		w.b.OpenDialog(frame.ID, chaos.Alert, "m", "")
	}
}
