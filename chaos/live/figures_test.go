package live_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/internal/node"
	"holdfast/messages"
)

// The figures of docs/performance.md. Without -figures a few of each are taken, so that they are
// known to work; no test fails by a time.
var figures = flag.Bool("figures", false, "take the figures of docs/performance.md, all of them")

// sample is how many are taken: all of them, or few.
func sample(all, few int) int {
	if *figures {
		return all
	}
	return few
}

// figure notes one figure of docs/performance.md; make figures shows them all.
func figure(t *testing.T, what, format string, args ...any) {
	t.Helper()
	t.Logf("figure: %s: %s", what, fmt.Sprintf(format, args...))
}

// percentile of times; p is in percent, 100 the longest.
func percentile(times []time.Duration, p int) time.Duration {
	slices.Sort(times)
	i := (len(times)*p + 99) / 100
	return times[max(i, 1)-1]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// Real Chromium, a page with two frames in processes of their own: from the
// reset of the primary's socket until the task is active with the page and
// both frames attached.
func TestFigureOneKill(t *testing.T) {
	c := startChromiumDrill(t, "one-kill")
	var version struct{ Product string }
	res, err := c.node.CDP(context.Background(), c.id, messages.CDPRequest{Method: "Browser.getVersion"})
	if err != nil || json.Unmarshal(res.Result, &version) != nil {
		t.Fatal(err, res)
	}
	figure(t, "machine", "%d cores, %s, %s", runtime.NumCPU(), version.Product, runtime.Version())
	for _, of := range []messages.Links{messages.LinksPrimary, messages.LinksBoth} {
		var times []time.Duration
		for range sample(100, 3) {
			times = append(times, c.timedKill(of))
		}
		figure(t, fmt.Sprintf("recovery after one kill of %s, real Chromium, n=%d", of, len(times)), "median %s, p99 %s", ms(percentile(times, 50)), ms(percentile(times, 99)))
	}
}

func (c *chromiumDrill) timedKill(of messages.Links) time.Duration {
	c.Helper()
	before, err := c.whole()
	if err != nil {
		c.Fatal(err)
	}
	if of.HasAnchor() {
		c.stand()
	}
	c.proxy.Forget()
	primary, anchor := c.links()
	began := time.Now()
	c.proxy.Kill(primary)
	if of.HasAnchor() {
		c.proxy.Kill(anchor)
	}
	if _, err := c.await("active, with page and frames", func(s *messages.Snapshot) bool {
		return s.Connection.Reconnects == before.Connection.Reconnects+1 && s.State == messages.StateActive && s.PageState == messages.PageOK &&
			slices.Equal(attachedFrames(s), c.frames)
	}); err != nil {
		c.Fatal(err)
	}
	return time.Since(began)
}

// Real sockets, a fake browser each: every link of every task breaks at the
// same moment, and the time is that until each task is active again.
func TestFigureManyKills(t *testing.T) {
	n := sample(1000, 20)
	browsers := make([]*chaos.Browser, n)
	mux := http.NewServeMux()
	for i := range browsers {
		browsers[i] = chaos.New(chaos.Options{Seed: uint64(i), Pages: 1, KeepCommands: 16})
		page := browsers[i].Pages()[0].Target
		browsers[i].AddFrame(browsers[i].MainFrame(page), "http://b.test/widget")
		mux.Handle(browsers[i].Path(), browsers[i])
	}
	addr := serve(t, mux, func() {
		for _, b := range browsers {
			b.Close()
		}
	})
	node := startNode(t, func(c *node.Config) { c.KeepAlive = 0 })
	id := func(i int) messages.TaskID { return messages.TaskID(fmt.Sprintf("many-%d", i)) }
	var starting sync.WaitGroup
	gate := make(chan struct{}, 16)
	for i, b := range browsers {
		gate <- struct{}{}
		starting.Go(func() {
			defer func() { <-gate }()
			u, err := messages.ParseCDPURL(b.URL(addr))
			if err == nil {
				_, _, err = node.GetOrStart(context.Background(), id(i), messages.TaskSpec{CDPURL: u, Scope: messages.ScopeBrowser})
			}
			if err != nil {
				t.Errorf("start %s: %v", id(i), err)
			}
		})
	}
	starting.Wait()
	if t.Failed() {
		return
	}
	drills := make([]*drill, n)
	for i := range drills {
		drills[i] = &drill{TB: t, id: id(i), node: node}
		if _, err := drills[i].whole(); err != nil {
			t.Fatal(err)
		}
	}
	active, whole := make([]time.Duration, n), make([]time.Duration, n)
	var began time.Time
	var watching sync.WaitGroup
	begin := make(chan struct{})
	for i, d := range drills {
		watching.Go(func() {
			<-begin
			if _, err := d.await("active again", func(s *messages.Snapshot) bool {
				return s.Connection.Reconnects == 1 && s.State == messages.StateActive && len(attachedFrames(s)) == 1
			}); err != nil {
				t.Error(err)
			}
			active[i] = time.Since(began)
			if _, err := d.whole(); err != nil {
				t.Error(err)
			}
			whole[i] = time.Since(began)
		})
	}
	began = time.Now()
	close(begin)
	for _, b := range browsers {
		b.DropConnections()
	}
	watching.Wait()
	figure(t, fmt.Sprintf("%d tasks lose every link at once, until active", n), "p50 %s, p99 %s, max %s",
		ms(percentile(active, 50)), ms(percentile(active, 99)), ms(percentile(active, 100)))
	figure(t, fmt.Sprintf("%d tasks lose every link at once, until both links stand", n), "p50 %s, p99 %s, max %s",
		ms(percentile(whole, 50)), ms(percentile(whole, 99)), ms(percentile(whole, 100)))
}

// oneLink is a plan that opens a dialog before every kill, of one link only.
func oneLink(stream uint64, n int) []kill {
	list := plan(*seed, stream, n)
	for i := range list {
		k := &list[i]
		k.world, k.target = nothing, []messages.Links{messages.LinksPrimary, messages.LinksAnchor}[i%2]
		if k.dialog == "" {
			k.dialog = chaos.Prompt
		}
		if k.manner == halfOpen || k.manner == slowly {
			k.manner = byReset
		}
	}
	return list
}

// A dialog is open at every kill, and one link lives on: the page gets what the
// agent said, every time. [drill.run] fails where it does not.
func TestFigureDialogsKept(t *testing.T) {
	drills := startDrills(t, *tasks)
	var running sync.WaitGroup
	for i, d := range drills {
		running.Go(func() { d.drive(oneLink(uint64(i), sample(64, 2))) })
	}
	running.Wait()
	asked, lost := 0, 0
	for _, d := range drills {
		asked, lost = asked+d.asked, lost+d.lost
	}
	figure(t, "dialogs lost with one link alive, real sockets", "%d of %d", lost, asked)
}

func TestFigureDialogsKeptByChromium(t *testing.T) {
	c := startChromiumDrill(t, "kept")
	list := oneLink(0, sample(60, 3))
	for i := range list {
		list[i].dialog = chaos.Prompt // what the drill's page asks
	}
	c.drive(list)
	figure(t, "dialogs lost with one link alive, real Chromium", "%d of %d", c.lost, c.asked)
}
