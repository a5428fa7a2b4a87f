package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"holdfast/chaos"
	"holdfast/messages"
)

var (
	clusterSeeds = flag.Int("cluster-seeds", 1, "how many schedules break a cluster of processes")
	clusterSeed  = flag.Uint64("cluster-seed", 1, "the first of them")
)

// TestClusterUnderChaos: three processes and one task on a fake browser, under kills, pauses, ends
// in good order and losses of the store by a seed, while callers answer its dialogs. What callers
// saw has to be linearizable: epochs only grow, an epoch has one node, each dialog is decided at
// most once. What the browser saw has to be the work of one node at a time.
func TestClusterUnderChaos(t *testing.T) {
	t.Parallel()
	for i := range *clusterSeeds {
		seed := *clusterSeed + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { breakCluster(t, seed) })
	}
}

// decides are the commands that only the owner of a task may send.
var decides = map[string]bool{
	"Page.handleJavaScriptDialog": true, "Page.navigate": true, "Page.reload": true, "Page.close": true,
	"Target.createTarget": true, "Target.closeTarget": true,
}

// decision is a command that decides, in the order of the browser.
type decision struct {
	link   int
	method string
}

// storm is one schedule.
type storm struct {
	*trio
	browser *chaos.Browser
	started time.Time
	owners  map[string]string // names of nodes, by the host that its links ask for
	alive   sync.Map          // name → URL, of the nodes that run
	tokens  map[string]string // by name

	mu        sync.Mutex // protects what follows
	decisions []decision
	hosts     map[int]string // of links
	looks     []porcupine.Operation
	answers   []porcupine.Operation
}

var names = []string{"a", "b", "c"}

func breakCluster(t *testing.T, seed uint64) {
	s := &storm{trio: newTrio(t), started: time.Now(), owners: map[string]string{}, tokens: map[string]string{}, hosts: map[int]string{}}
	s.browser = chaos.New(chaos.Options{Seed: seed, Pages: 1, Refuse: func(link int, method string) bool {
		if decides[method] {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.decisions = append(s.decisions, decision{link, method})
		}
		return false
	}})
	for _, name := range names {
		server := httptest.NewServer(s.browser)
		t.Cleanup(server.Close)
		s.owners[strings.TrimPrefix(server.URL, "http://")] = name
		s.shells[name].env = append(s.shells[name].env, "HOLDFAST_CDP_URL_OVERRIDE="+server.URL)
		s.run(name)
		s.tokens[name] = s.shells[name].token()
	}
	t.Cleanup(s.browser.Close)
	for _, name := range names {
		s.await(name, "held held held")
	}
	var callers sync.WaitGroup
	end := make(chan struct{})
	stop := sync.OnceFunc(func() { close(end); callers.Wait() })
	t.Cleanup(stop)
	for who := range 3 {
		roll := rand.New(rand.NewPCG(seed, uint64(who)))
		callers.Go(func() { s.call(who, roll, end) })
	}
	callers.Go(func() { s.ask(end) })

	roll := rand.New(rand.NewPCG(seed, 100))
	for range 3 {
		time.Sleep(time.Duration(500+roll.IntN(1000)) * time.Millisecond) //nolint:forbidigo // what happens meanwhile is the test
		s.fault(roll)
	}
	// All are well again: the task is, too.
	s.mu.Lock()
	before := s.answered()
	s.mu.Unlock()
	eventually(t, "dialogs are answered again", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.answered() > before+2
	})
	stop()
	s.check()
}

// run starts a node, and has callers know.
func (s *storm) run(name string) {
	p := s.start(name)
	s.alive.Store(name, p.url)
}

// fault breaks something, and mends it.
func (s *storm) fault(roll *rand.Rand) {
	order := roll.Perm(len(names))
	first, second := names[order[0]], names[order[1]]
	if owner := s.owner(); owner != "" && roll.IntN(2) == 0 { // it matters more than others
		first, second = owner, names[(slices.Index(names, owner)+1)%len(names)]
	}
	pause := time.Duration(200+roll.IntN(4000)) * time.Millisecond
	wait := func() { time.Sleep(pause) } //nolint:forbidigo // likewise
	send := func(name string, sig syscall.Signal) { s.nodes[name].signal(s.T, sig) }
	switch kind := roll.IntN(4); kind {
	case 0: // killed
		s.Logf("%v: kill %s for %v", time.Since(s.started), first, pause)
		s.alive.Delete(first)
		s.kill(first)
		wait()
		s.run(first)
	case 1: // paused
		s.Logf("%v: pause %s for %v", time.Since(s.started), first, pause)
		send(first, syscall.SIGSTOP)
		wait()
		send(first, syscall.SIGCONT)
	case 2: // the store has no quorum
		s.Logf("%v: pause %s and %s for %v", time.Since(s.started), first, second, pause)
		send(first, syscall.SIGSTOP)
		send(second, syscall.SIGSTOP)
		wait()
		send(second, syscall.SIGCONT)
		send(first, syscall.SIGCONT)
	case 3: // ended in good order
		s.Logf("%v: end %s", time.Since(s.started), first)
		s.alive.Delete(first)
		send(first, syscall.SIGTERM)
		s.nodes[first].wait(s.T)
		s.run(first)
	}
	s.await(first, "held held held")
}

// owner is the node that had the task last.
func (s *storm) owner() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.looks) == 0 {
		return ""
	}
	return s.looks[len(s.looks)-1].Output.(owner).node
}

// ask keeps a dialog open on the newest page, and notes whose links there are.
func (s *storm) ask(end <-chan struct{}) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; ; {
		select {
		case <-end:
			return
		case <-ticker.C:
		}
		links := s.browser.Connections()
		s.mu.Lock()
		for _, c := range links {
			s.hosts[c.Number()] = c.Host()
		}
		s.mu.Unlock()
		pages := s.browser.Pages()
		page := pages[len(pages)-1].Target
		if d := s.browser.OpenDialogs(); len(links) > 0 && (len(d) == 0 || d[len(d)-1].Page() != page) {
			n++
			s.browser.OpenDialog(s.browser.MainFrame(page), chaos.Confirm, fmt.Sprint("dialog ", n), "")
		}
	}
}

// call looks at the task through one node after another, starts it where it is gone, and answers
// its dialogs.
func (s *storm) call(who int, roll *rand.Rand, end <-chan struct{}) {
	client := &http.Client{Transport: &http.Transport{}, Timeout: 2 * time.Second}
	defer client.CloseIdleConnections()
	for {
		select {
		case <-end:
			return
		default:
		}
		name := names[roll.IntN(len(names))]
		url, ok := s.alive.Load(name)
		if !ok {
			continue
		}
		c := &caller{client: client, token: s.tokens[name]}
		task := url.(string) + "/v1/tasks/one"
		began := time.Since(s.started)
		status, out, err := c.call("GET", task+"/snapshot", "")
		if err != nil {
			continue
		}
		if status == http.StatusNotFound || strings.Contains(out, "rehoming") {
			_, _, _ = c.call("PUT", task, `{"cdp_url":"http://127.0.0.1:1","dialog_policy":"must_respond","dialog_timeout_s":600}`)
			continue
		}
		var seen messages.Snapshot
		if status != http.StatusOK || json.Unmarshal([]byte(out), &seen) != nil || seen.Lease != "" || seen.Epoch == 0 {
			continue
		}
		s.note(&s.looks, who, began, nil, owner{seen.Epoch, seen.Node})
		if seen.PageState == messages.PageDialogUnreachable { // it was open when its node died
			_, _, _ = c.call("POST", task+"/recover", `{"action":"release"}`)
			continue
		}
		if len(seen.PendingDialogs) == 0 {
			continue
		}
		d := seen.PendingDialogs[0]
		began = time.Since(s.started)
		status, _, err = c.call("POST", task+"/dialog", fmt.Sprintf(`{"action":"accept","dialog_id":%q,"wait_s":0}`, d.ID))
		if err == nil && status == http.StatusOK {
			s.note(&s.answers, who, began, d.Message, true)
		}
	}
}

func (s *storm) note(to *[]porcupine.Operation, who int, began time.Duration, in, out any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*to = append(*to, porcupine.Operation{ClientId: who, Input: in, Output: out, Call: int64(began), Return: int64(time.Since(s.started))})
}

func (s *storm) answered() int { return len(s.answers) }

// owner is who a look says has the task.
type owner struct {
	epoch uint64
	node  string
}

// ownership has epochs only grow, and gives each one node.
var ownership = porcupine.Model{
	Init: func() any { return owner{} },
	Step: func(state, _, output any) (bool, any) {
		was, is := state.(owner), output.(owner)
		return is.epoch > was.epoch || is == was, is
	},
}

// verdicts has each dialog answered once.
var verdicts = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[any][]porcupine.Operation{}
		for _, o := range history {
			by[o.Input] = append(by[o.Input], o)
		}
		var out [][]porcupine.Operation
		for _, one := range by {
			out = append(out, one)
		}
		return out
	},
	Init: func() any { return false },
	Step: func(state, _, _ any) (bool, any) { return state == false, true },
}

// check is what has to hold of all that was seen.
func (s *storm) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for what, c := range map[string]struct {
		model   porcupine.Model
		history []porcupine.Operation
	}{"ownership": {ownership, s.looks}, "verdicts": {verdicts, s.answers}} {
		if got := porcupine.CheckOperationsTimeout(c.model, c.history, time.Minute); got != porcupine.Ok {
			s.Errorf("%s, of %d operations: %v", what, len(c.history), got)
		}
	}
	for _, what := range mixed(s.decisions, func(link int) string { return s.owners[s.hosts[link]] }) {
		s.Error(what)
	}
	epochs := map[uint64]bool{}
	for _, o := range s.looks {
		epochs[o.Output.(owner).epoch] = true
	}
	s.Logf("%d looks, %d answers, %d decisions, %d epochs", len(s.looks), len(s.answers), len(s.decisions), len(epochs))
}

// mixed says which links decided while a link of another node did.
func mixed(all []decision, node func(link int) string) (out []string) {
	type span struct{ first, last int }
	spans := map[int]span{}
	for i, d := range all {
		at, ok := spans[d.link]
		if !ok {
			at.first = i
		}
		at.last = i
		spans[d.link] = at
	}
	for a, x := range spans {
		for b, y := range spans {
			if node(a) != node(b) && x.first < y.first && y.first < x.last {
				out = append(out, fmt.Sprintf("%s decided by link %d after %s had by link %d: %v", node(a), a, node(b), b, all[y.first:x.last+1]))
			}
		}
	}
	return out
}

// TestWhatChaosWouldFind: histories of a cluster that is broken are told from those of one that is not.
func TestWhatChaosWouldFind(t *testing.T) {
	t.Parallel()
	op := func(in, out any, from, to int64) porcupine.Operation {
		return porcupine.Operation{Input: in, Output: out, Call: from, Return: to}
	}
	for _, c := range []struct {
		model   porcupine.Model
		history []porcupine.Operation
		isGood  bool
	}{
		{ownership, []porcupine.Operation{op(nil, owner{1, "a"}, 0, 1), op(nil, owner{3, "b"}, 2, 3)}, true},
		{ownership, []porcupine.Operation{op(nil, owner{3, "b"}, 0, 2), op(nil, owner{1, "a"}, 1, 3)}, true},
		{ownership, []porcupine.Operation{op(nil, owner{3, "b"}, 0, 1), op(nil, owner{1, "a"}, 2, 3)}, false},
		{ownership, []porcupine.Operation{op(nil, owner{1, "a"}, 0, 3), op(nil, owner{1, "b"}, 1, 2)}, false},
		{verdicts, []porcupine.Operation{op("x", true, 0, 1), op("y", true, 0, 1)}, true},
		{verdicts, []porcupine.Operation{op("x", true, 0, 1), op("x", true, 4, 5)}, false},
	} {
		if got := porcupine.CheckOperations(c.model, c.history); got != c.isGood {
			t.Errorf("%v: %v", c.history, got)
		}
	}
	node := func(link int) string { return names[link%2] }
	of := func(links ...int) (out []decision) {
		for _, l := range links {
			out = append(out, decision{l, "Page.navigate"})
		}
		return out
	}
	if out := mixed(of(0, 0, 2, 0, 2, 1, 1, 3, 1, 4), node); len(out) != 0 {
		t.Error(out)
	}
	if out := mixed(of(0, 1, 0), node); len(out) != 1 {
		t.Error(out)
	}
}
