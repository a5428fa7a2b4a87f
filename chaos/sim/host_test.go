package sim

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// host is where a browser runs. The browser can be restarted: then everything
// in it is new.
type host struct {
	w     *world
	index int

	mu      sync.Mutex
	browser *chaos.Browser
	old     []*chaos.Browser
	doors   map[int]*door // by task
}

// door is what a task meets that dials.
type door struct {
	mode   mode
	lifted chan struct{} // closed when a black hole ends
	wait   time.Duration // of a slow handshake
}

type mode string

const (
	open      mode = ""
	refusing  mode = "refused"
	swallows  mode = "black hole"
	failing   mode = "500"
	dawdling  mode = "slow"
	probeForm      = "probe('%d')"
)

func newHost(w *world, index int) *host {
	h := &host{w: w, index: index, doors: map[int]*door{}}
	h.browser = h.newBrowser()
	return h
}

func (h *host) newBrowser() *chaos.Browser {
	return chaos.New(chaos.Options{
		Seed:         h.w.plan.Seed<<8 + uint64(h.index)<<4 + uint64(len(h.old)),
		Pages:        1,
		KeepCommands: 1 << 16,
		SharesFrames: h.w.plan.IsShared,
		Evaluate:     h.w.probes.evaluate,
		Load:         load,
	})
}

// load finds documents with frames and with servers that take their time.
func load(url string) chaos.Document {
	d := chaos.DefaultDocument(url)
	switch {
	case strings.Contains(url, "/frames"):
		d.Frames = []string{"http://a.test/inner", "http://b.test/inner"}
	case strings.Contains(url, "/slow"):
		d.Delay = 200 * time.Millisecond
	case strings.Contains(url, "/asks"):
		d.HasBeforeUnload = true
	}
	return d
}

// name is the host name under which a task dials: so the browser's end of a
// link can be told to be that task's.
func (h *host) name(task int) string { return fmt.Sprintf("t%d.b%d.test:9222", task, h.index) }

// endpoint is the task's CDP URL: the browser's own, which is good as long as
// that browser lives, or the one to ask.
func (h *host) endpoint(task int, direct bool) messages.CDPURL {
	raw := "http://" + h.name(task)
	if direct {
		raw = h.now().URL(h.name(task))
	}
	u, err := messages.ParseCDPURL(raw)
	if err != nil {
		panic(err)
	}
	return u
}

// now is the browser that runs.
func (h *host) now() *chaos.Browser {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.browser
}

// restart ends the browser and starts another one in its place.
func (h *host) restart() {
	h.mu.Lock()
	h.old = append(h.old, h.browser)
	h.browser = h.newBrowser()
	gone := h.old[len(h.old)-1]
	h.mu.Unlock()
	gone.Kill()
}

func (h *host) close() {
	h.now().Close()
	for _, b := range h.old {
		b.Close()
	}
}

// door returns the task's, with mu held.
func (h *host) door(task int) *door {
	d := h.doors[task]
	if d == nil {
		d = &door{}
		h.doors[task] = d
	}
	return d
}

// shut changes what the task's dials meet; open lets the waiting ones through.
func (h *host) shut(task int, m mode, wait time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.door(task)
	if d.lifted != nil {
		close(d.lifted)
		d.lifted = nil
	}
	d.mode, d.wait = m, wait
	if m == swallows {
		d.lifted = make(chan struct{})
	}
}

func (h *host) serve(rw http.ResponseWriter, r *http.Request, task int) {
	h.mu.Lock()
	d := h.door(task)
	m, wait, lifted := d.mode, d.wait, d.lifted
	h.mu.Unlock()
	switch m {
	case refusing:
		panic(http.ErrAbortHandler)
	case swallows:
		select {
		case <-lifted:
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	case failing:
		http.Error(rw, "out of order", http.StatusInternalServerError)
		return
	case dawdling:
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
	h.now().ServeHTTP(rw, r)
}

// links are the task's connections as the browser sees them: its primary and
// its anchor, nil where there is none.
func (h *host) links(task int) (primary, anchor *chaos.Conn, all []*chaos.Conn) {
	for _, c := range h.now().Connections() {
		if c.Host() != h.name(task) {
			continue
		}
		if h.w.zombie(c) {
			continue
		}
		if !c.IsStalled() { // else the node may have ended it, and the browser not have noticed
			all = append(all, c)
		}
		switch root := c.Received(""); {
		case len(root) == 0:
		case root[0] == "Target.setDiscoverTargets":
			primary = c
		default:
			anchor = c
		}
	}
	return primary, anchor, all
}
