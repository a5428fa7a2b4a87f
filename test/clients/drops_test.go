package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

var (
	dropSteps = flag.Int("drop-steps", 40, "how many steps a client makes while its browser's connections are cut")
	dropCuts  = flag.Int("drop-cuts", 8, "how often they are cut")
)

// typed is what a client is told of a command whose link was lost.
const typed = "upstream connection lost; the command was not repeated"

// reworded is how Playwright, and of a document that has gone Puppeteer, words any error of an
// evaluate that is not the page's.
const reworded = "Execution context was destroyed, most likely because of a navigation"

// workerGone is how a client words a call on a worker that has been told to be gone with the link:
// Puppeteer, and Playwright in two ways.
var workerGone = []string{"Target closed", "Worker was closed", "Target page, context or browser has been closed"}

// isDrop says whether a step has failed as one may under which a link is lost.
func isDrop(l Line) bool {
	says := func(text string) bool { return strings.Contains(l.Error, text) }
	return says(typed) || says(reworded) || strings.HasSuffix(l.Step, " worker") && slices.ContainsFunc(workerGone, says)
}

// TestClientsOutliveDrops: while both links of the task are cut again and again, each step of a
// client ends right or with the typed error, and after the last cut all that it has set is in
// force again.
func TestClientsOutliveDrops(t *testing.T) {
	site, chrome, node := serve(t), chromiumtest.Shared(t), startNode(t)
	for _, p := range []Program{
		{Client: "playwright", file: "playwright-drops.mjs"},
		{Client: "puppeteer", file: "puppeteer-drops.mjs"},
		{Client: "chromedp"},
		{Client: "rod"},
	} {
		t.Run(p.Client, func(t *testing.T) {
			t.Parallel()
			proxy := chromiumtest.Proxy(t, chrome.Addr())
			id := "drops-" + p.Client
			startTask(t, node, id, proxy.URL(chrome.WS()))
			place := Place{WS: node.Address("ws", id, nil), Page: site.URL("http://a.test/client"), Dir: t.TempDir(), Steps: *dropSteps}
			cutUnder(t, p, place, proxy)
		})
	}
}

// cutUnder runs a program and cuts all connections at moments between its steps.
func cutUnder(t *testing.T, p Program, place Place, proxy *chromiumtest.FaultProxy) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c, err := p.command(ctx, place)
	if err != nil {
		t.Fatal(err)
	}
	var failed bytes.Buffer
	c.Stderr = &failed
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = c.Wait() // how it ends does not matter by now
	}()

	moments := rand.New(rand.NewPCG(1, uint64(len(p.Client))))
	steps, cuts, errs, lasts := 0, 0, 0, 0
	kinds := map[string]bool{}
	var cutting sync.WaitGroup
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var l Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("the program printed %s", lines.Text())
		}
		isLast := strings.HasPrefix(l.Step, "last ")
		switch {
		case l.Error == "" && string(l.Value) == "true":
		case isDrop(l) && !isLast:
			errs++
		default:
			t.Errorf("%v", l)
		}
		switch {
		case l.Step == "settled":
		case isLast:
			lasts++
		case l.Step == "done":
			cutting.Wait()
			for end := time.Now().Add(time.Minute); proxy.Open() == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the node has not come back from the last cut within a minute")
				}
			}
			if _, err := fmt.Fprintln(in, "calm"); err != nil {
				t.Fatal(err)
			}
		default:
			if _, kind, ok := strings.Cut(l.Step, " "); ok {
				kinds[kind] = true
			}
			if steps++; cuts < *dropCuts*steps / *dropSteps {
				cuts++
				cutting.Add(1)
				time.AfterFunc(time.Duration(moments.IntN(30))*time.Millisecond, func() {
					defer cutting.Done()
					proxy.KillAll()
				})
			}
		}
	}
	if lasts < 5 || lasts != len(kinds) || cuts < *dropCuts {
		t.Errorf("%d of %d last steps, %d of %d cuts\n%s", lasts, len(kinds), cuts, *dropCuts, failed.String())
	}
	t.Logf("%d steps, %d cuts, %d steps with the typed error", steps-1, cuts, errs)
}
