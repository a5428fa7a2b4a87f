package sim

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/internal/node"
	"holdfast/messages"
)

var crowdFlag = flag.Uint64("crowd", 0, "the one seed that TestCrowdSeeds plays")

// crowd is a node whose tasks are all of one browser, at one address: their links share two
// connections, and no more than two sessions are on a page of a task.
type crowd struct {
	t       *testing.T
	random  *rand.Rand
	trace   strings.Builder
	browser *chaos.Browser
	url     messages.CDPURL
	node    *node.Node
	tasks   []*member
	given   messages.TargetID // the page of the task that is given one
	asked   int
}

// member is a task of a crowd.
type member struct {
	id   messages.TaskID
	spec messages.TaskSpec
	root messages.TargetID          // what it has made or was given at its start
	own  map[messages.TargetID]bool // its pages, and some that are no more
}

const (
	crowdTasks = 6 // one is given a page; with every second seed the last has all pages
	crowdSteps = 30
)

func newCrowd(t *testing.T, seed uint64) *crowd {
	c := &crowd{t: t, random: rand.New(rand.NewPCG(seed, seed))}
	c.browser = chaos.New(chaos.Options{
		Seed: seed, Pages: 1, KeepCommands: 1 << 16,
		Load: func(url string) chaos.Document {
			d := chaos.DefaultDocument(url)
			if _, n, ok := strings.Cut(url, "/asks"); ok {
				d.Script = fmt.Sprintf("confirm('%s')", n)
			}
			return d
		},
		Evaluate: func(e chaos.Evaluation) (chaos.Value, bool) {
			return chaos.Value{JSON: string(e.Target)}, e.Expression == "self"
		},
	})
	w := &world{}
	listener := w.listen(c.browser)
	n, err := node.Start(context.Background(), node.Config{
		StateDir: t.TempDir(), HTTPClient: listener.HTTPClient(), Seed: seed,
		Limits: node.Limits{MaxTasks: crowdTasks, MemoryHigh: -1}, AllowChaos: true,
		Log: slog.New(slog.NewTextHandler(crowdLog{c}, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.node = n
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
		c.browser.Close()
		for _, end := range slices.Backward(w.teardown) {
			end()
		}
	})
	c.url, err = messages.ParseCDPURL(c.browser.URL("crowd.test:9222"))
	if err != nil {
		t.Fatal(err)
	}
	c.given = c.browser.NewPage("http://a.test/given")
	for i := range crowdTasks {
		m := &member{id: messages.TaskID(fmt.Sprint("t", i)), spec: messages.TaskSpec{CDPURL: c.url, Bridge: messages.BridgeOff, DialogTimeoutS: 600}}
		switch {
		case i == crowdTasks-1 && seed%2 == 0:
			m.spec.Scope = messages.ScopeBrowser
		case i == crowdTasks-2:
			m.spec.Scope, m.spec.TargetID = messages.ScopeTarget, c.given
		}
		c.tasks = append(c.tasks, m)
		c.start(m)
	}
	return c
}

type crowdLog struct{ c *crowd }

func (l crowdLog) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "panic") {
		l.c.t.Errorf("%s", p)
	}
	return len(p), nil
}

func (c *crowd) say(format string, args ...any) { fmt.Fprintf(&c.trace, format+"\n", args...) }

func (c *crowd) start(m *member) {
	s, _, err := c.node.GetOrStart(context.Background(), m.id, m.spec)
	if err != nil {
		c.t.Fatalf("start %s: %v\n%s", m.id, err, &c.trace)
	}
	m.root = s.PageTargetID
	m.own = map[messages.TargetID]bool{m.root: true}
}

// pagesOf are a task's pages: what it has made or was given, and what those have opened.
func (c *crowd) pagesOf(m *member) (own []messages.TargetID) {
	for _, p := range c.browser.Pages() { // in the order in which they were opened
		if m.spec.Scope == messages.ScopeBrowser || m.own[p.Target] || m.own[p.Opener] {
			m.own[p.Target] = true
			own = append(own, p.Target)
		}
	}
	slices.Sort(own)
	return own
}

func (c *crowd) any(pages []messages.TargetID) messages.TargetID {
	return pages[c.random.IntN(len(pages))]
}

// step does one thing to the browser, its links or the tasks.
func (c *crowd) step() {
	m := c.tasks[c.random.IntN(len(c.tasks))]
	page := c.any(c.pagesOf(m))
	switch kind := c.random.IntN(12); kind {
	case 0, 1:
		c.say("drop every connection: %d", c.browser.DropConnections())
	case 2:
		if all := c.browser.Connections(); len(all) > 0 {
			c.say("drop one connection of %d", len(all))
			all[c.random.IntN(len(all))].Drop()
		}
	case 3, 4:
		of := []messages.Links{messages.LinksPrimary, messages.LinksAnchor, messages.LinksBoth}[c.random.IntN(3)]
		_, err := c.node.Kill(context.Background(), m.id, of)
		c.say("kill %s of %s: %v", of, m.id, err)
	case 5, 6, 7:
		c.asked++
		url := "http://a.test/quiet"
		if kind > 5 {
			url = fmt.Sprintf("http://a.test/asks%d", c.asked)
		}
		c.say("%s opens %s: %s", page, url, c.browser.OpenPopup(c.browser.MainFrame(page), url))
	case 8:
		c.asked++
		c.browser.OpenDialog(c.browser.MainFrame(page), chaos.Confirm, fmt.Sprint(c.asked), "")
		c.say("%s of %s asks %d", page, m.id, c.asked)
	case 9:
		if m.spec.Scope == messages.ScopeTarget && c.tasks[crowdTasks-1].spec.Scope == messages.ScopeBrowser {
			return // which has its page meanwhile
		}
		c.say("restart %s", m.id)
		if err := c.node.StopTask(context.Background(), m.id); err != nil {
			c.t.Fatalf("stop %s: %v\n%s", m.id, err, &c.trace)
		}
		c.start(m)
	case 10:
		for _, p := range c.browser.Pages() {
			if len(c.owners(p.Target)) == 0 {
				c.say("a page of no task opens one: %s", c.browser.OpenPopup(c.browser.MainFrame(p.Target), "http://a.test/quiet"))
				break
			}
		}
	case 11:
		if !slices.ContainsFunc(c.tasks, func(other *member) bool { return other.root == page }) {
			c.say("%s is closed", page)
			c.browser.ClosePage(page)
		}
	}
}

func (c *crowd) owners(page messages.TargetID) (list []*member) {
	for _, m := range c.tasks {
		if slices.Contains(c.pagesOf(m), page) {
			list = append(list, m)
		}
	}
	return list
}

// settle waits until every task has its pages and links, and all that is asked is answered.
func (c *crowd) settle() bool {
	bound := 20 * time.Second // of which keeping sessions for others takes five
	var diff string
	for began := time.Now(); time.Since(began) < bound; time.Sleep(50 * time.Millisecond) {
		if c.isTakenForSingle() {
			bound = 30 * time.Minute // the anchor is tried again, at times rarely
		}
		synctest.Wait()
		if c.answer(); c.t.Failed() {
			return false
		}
		if diff = c.diff(); diff == "" {
			return true
		}
	}
	c.t.Errorf("not settled after %s: %s", bound, diff)
	return false
}

// isTakenForSingle says whether a task takes the browser for one that lets a client have one
// connection: links that are cut together again and again look like that.
func (c *crowd) isTakenForSingle() bool {
	return slices.ContainsFunc(c.node.Tasks(), func(s *messages.Snapshot) bool {
		return s.Connection.AnchorOff == messages.AnchorOffSingle
	})
}

// answer answers every dialog that a task shows.
func (c *crowd) answer() {
	for _, m := range c.tasks {
		s, err := c.node.Snapshot(m.id, messages.SnapshotOptions{})
		if err != nil {
			c.t.Errorf("snapshot of %s: %v", m.id, err)
			return
		}
		for _, d := range s.PendingDialogs {
			_, err := c.node.Respond(context.Background(), m.id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID})
			c.say("%s answers %q on %s: %v", m.id, d.Message, d.TargetID, err)
		}
	}
}

func (c *crowd) diff() string {
	if c.browser.IsDead() {
		c.t.Error("the browser has ended")
		return "the browser"
	}
	for _, m := range c.tasks {
		s, err := c.node.Snapshot(m.id, messages.SnapshotOptions{})
		if err != nil || s.State != messages.StateActive || s.Connection.Anchor != messages.LinkUp {
			return fmt.Sprintf("%s is %v with an anchor that is %s (%s): %v", m.id, s.State, s.Connection.Anchor, s.Connection.AnchorOff, err)
		}
		var pages []messages.TargetID
		for _, p := range s.Pages {
			pages = append(pages, p.TargetID)
		}
		slices.Sort(pages)
		if own := c.pagesOf(m); !slices.Equal(own, pages) {
			return fmt.Sprintf("%s shows pages %v of %v", m.id, pages, own)
		}
	}
	for _, p := range c.browser.Pages() {
		if p.IsHeld || p.IsFrozen || p.Dialogs > 0 {
			return fmt.Sprintf("page %s of %d tasks: held %v, frozen %v, %d dialogs", p.Target, len(c.owners(p.Target)), p.IsHeld, p.IsFrozen, p.Dialogs)
		}
		if n := 2 * len(c.owners(p.Target)); len(p.Sessions) != n {
			return fmt.Sprintf("page %s of %d tasks has %d sessions", p.Target, n/2, len(p.Sessions))
		}
	}
	return ""
}

// check asks every page which it is, by its own task.
func (c *crowd) check() {
	for _, m := range c.tasks {
		for _, page := range c.pagesOf(m) {
			r, err := c.node.CDP(context.Background(), m.id, messages.CDPRequest{
				Method: "Runtime.evaluate", Params: json.RawMessage(`{"expression":"self","returnByValue":true}`), TargetID: page,
			})
			if err != nil || !strings.Contains(string(r.Result), string(page)) {
				c.t.Errorf("page %s of %s: %s, %v", page, m.id, r.Result, err)
			}
		}
	}
	if n := len(c.browser.Connections()); n > 4 {
		c.t.Errorf("%d connections are open", n)
	}
}

// TestCrowdSeeds plays seeds of tasks that share connections to one browser.
func TestCrowdSeeds(t *testing.T) {
	t.Parallel()
	first, n := uint64(1), *seedsFlag*2/5
	if *crowdFlag > 0 {
		first, n = *crowdFlag, 1
	}
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(t, seed)
				isSettled := c.settle()
				for i := 0; i < crowdSteps && isSettled && !t.Failed(); i++ {
					c.step()
					if c.random.IntN(2) == 0 {
						time.Sleep(time.Duration(c.random.IntN(1100)) * time.Millisecond)
						c.answer()
						continue
					}
					if isSettled = c.settle(); isSettled {
						c.check()
					}
				}
				if isSettled && c.settle() {
					c.check()
				}
				if t.Failed() {
					t.Logf("%s\ngo test ./chaos/sim -run '^TestCrowdSeeds$' -crowd %d", &c.trace, seed)
				}
			})
		})
	}
}
