package live_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

var (
	crowdTasks = flag.Int("crowd", 5, "tasks that share one real Chromium and its two links")
	crowdKills = flag.Int("crowd-kills", 4, "kills of the links that they share")
)

// TestRealCrowd kills the two links that all tasks of one Chromium share. Before each kill some
// tasks ask: every dialog is answered by the link that is left, and no task gets another's answer.
func TestRealCrowd(t *testing.T) {
	crowd := startCrowd(t, *crowdTasks)
	roll := rand.New(rand.NewPCG(*seed, 1<<33))
	var asked int
	for i := range *crowdKills {
		k := kill{
			target: pick(roll, messages.LinksPrimary, messages.LinksPrimary, messages.LinksAnchor),
			manner: pick(roll, byReset, byReset, byFinish, halfOpen), think: time.Duration(roll.IntN(40)) * time.Millisecond,
		}
		asking := map[*drill]bool{}
		if i%4 == 3 {
			k.target = messages.LinksBoth // no dialog outlives that
		} else {
			for _, c := range crowd {
				asking[c.drill] = roll.IntN(2) == 0
			}
		}
		n, err := strikeCrowd(crowd, k, asking)
		asked += n
		if err != nil {
			t.Fatalf("kill %d, %s: %v\nThe same plan again (the sockets' timing is their own):\n"+
				"  go test -race ./chaos/live -run 'TestRealCrowd$' -seed %d -crowd %d -crowd-kills %d", i+1, k, err, *seed, *crowdTasks, *crowdKills)
		}
	}
	t.Logf("%d tasks, %d kills, %d dialogs", *crowdTasks, *crowdKills, asked)
}

// startCrowd starts tasks with a page of their own each, in one Chromium behind one proxy.
func startCrowd(t *testing.T, n int) []*chromiumDrill {
	t.Helper()
	b := chromiumtest.Launch(t)
	site := chromiumtest.Serve(t)
	site.Set("/crowd", `<title>/crowd</title><script>function ask(){ window.got = 'open'; window.got = prompt('name?', 'dflt') }</script>`)
	proxy := chromiumtest.Proxy(t, b.Addr())
	u, err := messages.ParseCDPURL(proxy.URL(b.WS()))
	if err != nil {
		t.Fatal(err)
	}
	node := startNode(t)
	crowd := make([]*chromiumDrill, n)
	for i := range crowd {
		c := &chromiumDrill{site: site, drill: &drill{
			TB: t, id: messages.TaskID(fmt.Sprint("crowd-", i)), node: node, proxy: proxy, trace: &trace{began: time.Now()},
		}}
		s, _, err := node.GetOrStart(context.Background(), c.id, messages.TaskSpec{CDPURL: u, Scope: messages.ScopeOwn})
		if err != nil {
			t.Fatal(err)
		}
		c.page = s.PageTargetID
		if _, err := node.Navigate(context.Background(), c.id, messages.NavigateRequest{URL: site.URL("http://a.test/crowd")}); err != nil {
			t.Fatal(err)
		}
		crowd[i] = c
	}
	if err := together(crowd, func(c *chromiumDrill) error {
		_, err := c.eval("", "window.kept = 'since the first'")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	proxy.KillAll() // the first task has links of its own until they are lost
	if err := together(crowd, func(c *chromiumDrill) error {
		_, err := c.await("its links are new", func(s *messages.Snapshot) bool { return s.Connection.Reconnects > 0 })
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return crowd
}

// together does the same with every task at once.
func together(crowd []*chromiumDrill, do func(*chromiumDrill) error) error {
	errs := make([]error, len(crowd))
	var work sync.WaitGroup
	for i, c := range crowd {
		work.Go(func() {
			if err := do(c); err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.id, err)
			}
		})
	}
	work.Wait()
	return errors.Join(errs...)
}

// strikeCrowd has some tasks ask, kills links, has the questions answered, and waits until every
// task is what it was. It returns how many have asked.
func strikeCrowd(crowd []*chromiumDrill, k kill, asking map[*drill]bool) (asked int, err error) {
	before := map[*drill]*messages.Snapshot{}
	for _, c := range crowd {
		s, err := c.whole()
		if err != nil {
			return 0, fmt.Errorf("%s before: %w", c.id, err)
		}
		before[c.drill] = s
	}
	one := crowd[0]
	if open := one.proxy.Open(); open != 2 {
		return 0, fmt.Errorf("%d tasks have %d connections, want 2", len(crowd), open)
	}
	if k.target.HasAnchor() {
		one.stand()
	}
	primary, anchor := sharedLinks(one.proxy)
	if err := together(crowd, func(c *chromiumDrill) error {
		if !asking[c.drill] {
			return nil
		}
		_, err := c.ask("")
		return err
	}); err != nil {
		return 0, err
	}
	mend, err := one.strikeAt(k, primary, anchor)
	if err != nil {
		return 0, err
	}
	if err := together(crowd, func(c *chromiumDrill) error {
		if !asking[c.drill] {
			return nil
		}
		return c.answer(k, "", c.snapshot().PendingDialogs[0].ID, mend)
	}); err != nil {
		return 0, err
	}
	if err := together(crowd, func(c *chromiumDrill) error {
		_, err := c.await("the links are back", func(s *messages.Snapshot) bool {
			p, a := sharedLinks(c.proxy)
			return s.Connection.Reconnects > before[c.drill].Connection.Reconnects == k.target.HasPrimary() &&
				(!k.target.HasPrimary() || p != primary) && (!k.target.HasAnchor() || a != anchor)
		})
		return err
	}); err != nil {
		return 0, err
	}
	mend()
	for _, is := range asking {
		if is {
			asked++
		}
	}
	return asked, together(crowd, (*chromiumDrill).unharmed)
}

// sharedLinks are the numbers of the two connections that all tasks share. Only a primary wants
// to be told what a page's scripts do.
func sharedLinks(p *chromiumtest.FaultProxy) (primary, anchor int) {
	watches := map[int]bool{}
	for _, m := range p.Messages() {
		if m.IsFromClient {
			watches[m.Conn] = watches[m.Conn] || bytes.Contains(m.Payload, []byte(`"Runtime.enable"`))
		}
	}
	for _, n := range p.Connections() {
		if is, spoke := watches[n]; is {
			primary = n
		} else if spoke {
			anchor = n
		}
	}
	return primary, anchor
}
