package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// chromiumPlan is n kills: every third with a dialog open, every sixth of both
// links, and of those every other with a dialog.
func chromiumPlan(seed uint64, n int) []kill {
	roll := rand.New(rand.NewPCG(seed, 1<<32))
	list := make([]kill, n)
	for i := range list {
		k := kill{
			target: pick(roll, messages.LinksPrimary, messages.LinksPrimary, messages.LinksAnchor),
			manner: pick(roll, byReset, byReset, byFinish, byOrder, byOrder, halfOpen, slowly),
			world:  nothing, think: time.Duration(roll.IntN(40)) * time.Millisecond,
			gap: time.Duration(roll.IntN(30)) * time.Millisecond, reverse: roll.IntN(2) == 0,
		}
		if i%3 == 0 {
			k.dialog, k.inFrame = chaos.Prompt, roll.IntN(2) == 0
		}
		if i%12 == 3 || i%12 == 10 {
			k.target = messages.LinksBoth
			if k.dialog != "" {
				// Apart, the dialog is answered through the one that lives longer.
				k.gap = 0
			}
		}
		list[i] = k
	}
	return list
}

// chromiumDrill is a task on a real page with two frames in processes of their
// own.
type chromiumDrill struct {
	*drill
	site   *chromiumtest.Site
	frames []messages.FrameID
}

const drillPage = `<title>/drill</title><script>function ask(){ window.got = 'open'; window.got = prompt('name?', 'dflt') }</script>
<iframe src="http://b.test/prompt"></iframe><iframe src="http://c.test/prompt"></iframe>`

func startChromiumDrill(t *testing.T, id messages.TaskID) *chromiumDrill {
	t.Helper()
	b := chromiumtest.Launch(t)
	site := chromiumtest.Serve(t)
	site.Set("/drill", drillPage)
	c := &chromiumDrill{site: site, drill: &drill{TB: t, id: id, proxy: chromiumtest.Proxy(t, b.Addr()), trace: &trace{began: time.Now()}}}
	c.node = startNode(t)
	u, err := messages.ParseCDPURL(c.proxy.URL(b.WS()))
	if err != nil {
		t.Fatal(err)
	}
	snap, _, err := c.node.GetOrStart(context.Background(), id, messages.TaskSpec{CDPURL: u, Scope: messages.ScopeBrowser})
	if err != nil {
		t.Fatal(err)
	}
	c.page = snap.PageTargetID
	if _, err := c.node.Navigate(context.Background(), id, messages.NavigateRequest{URL: site.URL("http://a.test/drill")}); err != nil {
		t.Fatal(err)
	}
	s, err := c.await("two frames in processes of their own", func(s *messages.Snapshot) bool { return len(attachedFrames(s)) == 2 })
	if err != nil {
		t.Fatal(err)
	}
	c.frames = attachedFrames(s)
	for _, f := range c.everywhere() {
		if _, err := c.eval(f, "window.kept = 'since the first'"); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// attachedFrames are the out-of-process frames with a session.
func attachedFrames(s *messages.Snapshot) []messages.FrameID {
	var frames []messages.FrameID
	if s.FrameTree != nil {
		for _, f := range s.FrameTree.Children {
			if f.IsOOPIF && f.SessionID != "" {
				frames = append(frames, f.FrameID)
			}
		}
	}
	slices.Sort(frames)
	return frames
}

// everywhere is the page, as "", and its frames.
func (c *chromiumDrill) everywhere() []messages.FrameID {
	return append([]messages.FrameID{""}, c.frames...)
}

// eval runs an expression and returns its value as JSON.
func (c *chromiumDrill) eval(frame messages.FrameID, expression string) (string, error) {
	params, err := json.Marshal(map[string]any{"expression": expression, "returnByValue": true})
	if err != nil {
		return "", err
	}
	res, err := c.node.CDP(context.Background(), c.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: params, FrameID: frame})
	if err != nil {
		return "", err
	}
	var r struct {
		Result struct{ Value json.RawMessage }
	}
	err = json.Unmarshal(res.Result, &r)
	return string(r.Result.Value), err
}

func TestRealChromium(t *testing.T) {
	c := startChromiumDrill(t, "chromium")
	c.drive(chromiumPlan(*seed, *chromiumKills))
	t.Logf("%d kills, %d dialogs of which %d were lost with both links", *chromiumKills, c.asked, c.lost)
}

// drive runs the plan and reports.
func (c *chromiumDrill) drive(list []kill) {
	c.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { c.watch(ctx) })
	err := func() error {
		for i, k := range list {
			if err := c.step(k); err != nil {
				return fmt.Errorf("kill %d, %s: %w", i+1, k, err)
			}
		}
		return nil
	}()
	cancel()
	watching.Wait()
	if err == nil {
		err = c.violations()
	}
	if err != nil {
		c.Fatalf("%v\n\ntrace:\n%s\n\nThe same plan again (the sockets' timing is their own):\n"+
			"  go test -race ./chaos/live -run '%s$' -seed %d -chromium-kills %d", err, c.trace, c.Name(), *seed, *chromiumKills)
	}
}

func (c *chromiumDrill) step(k kill) error {
	before, err := c.whole()
	if err != nil {
		return err
	}
	if k.target.HasAnchor() {
		c.stand()
	}
	c.proxy.Forget()
	primary, anchor := c.links()
	frame := messages.FrameID("")
	var id messages.DialogID
	if k.dialog != "" {
		if k.inFrame {
			frame = c.frames[0]
		}
		if id, err = c.ask(frame); err != nil {
			return err
		}
	}
	mend, err := c.strike(k)
	if err != nil {
		return err
	}
	if id != "" {
		if err := c.answer(k, frame, id, mend); err != nil {
			return err
		}
	}
	if err := c.fell(k, before, primary, anchor); err != nil {
		return err
	}
	mend()
	return c.unharmed()
}

// ask has a frame open its prompt, and waits until the node shows it.
func (c *chromiumDrill) ask(frame messages.FrameID) (messages.DialogID, error) {
	if _, err := c.eval(frame, "setTimeout(ask, 0); 0"); err != nil {
		return "", err
	}
	c.asked++
	s, err := c.await("the dialog", func(s *messages.Snapshot) bool { return len(s.PendingDialogs) == 1 })
	if err != nil {
		return "", err
	}
	return s.PendingDialogs[0].ID, nil
}

// answer answers the dialog through what is left, or frees the page of it when
// nothing is.
func (c *chromiumDrill) answer(k kill, frame messages.FrameID, id messages.DialogID, mend func()) error {
	q := &question{drill: c.drill, id: id, given: map[string]error{}}
	q.agent(0, k.think)
	s, err := c.await("the end of "+string(id), func(s *messages.Snapshot) bool { return q.closed(s) != nil })
	if err != nil {
		return err
	}
	got := "null" // what a prompt without an answer returns
	if closed := q.closed(s); closed.ClosedBy == messages.ClosedByLost {
		if k.target != messages.LinksBoth {
			return fmt.Errorf("%s was lost, and a link lived", id)
		}
		mend()
		if err := q.freed(); err != nil {
			return err
		}
	} else {
		for text := range q.given { // the last one counts; of one agent there is one
			if q.given[text] == nil {
				got = fmt.Sprintf("%q", text)
			}
		}
		if len(q.given) > 1 || got == "null" { // an answer whose outcome got lost
			got = ""
		}
	}
	if _, err := c.whole(); err != nil {
		return err
	}
	switch value, err := c.eval(frame, "window.got"); {
	case err != nil:
		return err
	case got != "" && value != got, !strings.HasPrefix(value, `"`+string(id)) && value != "null":
		return fmt.Errorf("the page got %s for %s, want %s", value, id, got)
	}
	return nil
}

// unharmed says whether page and frames are what they were: the same frames,
// attached anew, with their state.
func (c *chromiumDrill) unharmed() error {
	s, err := c.whole()
	if err != nil {
		return err
	}
	if len(s.Pages) != 1 || s.PageTargetID != c.page || s.Pages[0].SessionID == "" || !slices.Equal(attachedFrames(s), c.frames) {
		b, _ := json.Marshal(s)
		return fmt.Errorf("pages or frames are not what they were: %s", b)
	}
	for _, f := range c.everywhere() {
		if value, err := c.eval(f, "window.kept"); err != nil || value != `"since the first"` {
			return fmt.Errorf("frame %q keeps %s: %w", f, value, err)
		}
	}
	return nil
}
