package stage

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"holdfast/chaos"
	"holdfast/transport"
)

// Place is where a client goes: a browser, one page of it, and a frame of that
// page in the same process.
type Place struct {
	Browser string `json:"browser"` // ws://, the browser's endpoint
	Page    string `json:"page"`    // ws://, the page's own
	Target  string `json:"target"`
	Frame   string `json:"frame"`
	// Number is the browser's, for the orders of [Fake].
	Number int `json:"number"`
}

// world is one fake browser and what is in front of it.
type world struct {
	browser *chaos.Browser
	inside  *transport.PipeListener
	serving sync.Once
	stamps  stamps
}

// serveInside lets the fronts in.
func (w *world) serveInside() {
	w.serving.Do(func() {
		server := &http.Server{Handler: w.browser}
		go func() { _ = server.Serve(w.inside) }() // until the process ends
	})
}

// stamps are when a dialog was told of first, and when it was answered first.
type stamps struct {
	mu sync.Mutex
	Stamps
}

// Stamps are moments on the machine's clock, see [Now]; 0 is not yet.
type Stamps struct {
	Opened   int64 `json:"opened"`
	Answered int64 `json:"answered"`
}

func (s *stamps) opened(at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Opened == 0 {
		s.Opened = at
	}
}

func (s *stamps) answered(at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Answered == 0 {
		s.Answered = at
	}
}

func (s *stamps) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Stamps = Stamps{}
}

func (s *stamps) read() Stamps {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Stamps
}

// orders are what the process of the fake browsers is told, as JSON over HTTP.
type orders struct {
	addr string

	mu     sync.Mutex
	worlds []*world
	byPath map[string]*world
}

// Making is how browsers are made: each with a page that has so many iframes of
// other processes.
type Making struct {
	Browsers int `json:"browsers"`
	Frames   int `json:"frames"`
	// Fast places lead through the front, which answers at once and notes when
	// dialogs go by; others lead to the fake browser itself.
	Fast bool `json:"fast"`
}

// DialogOrder opens a dialog a while later, when the one who ordered it has
// come to rest.
type DialogOrder struct {
	Number  int `json:"number"`
	AfterMS int `json:"after_ms"`
}

// ServeFakes serves fake browsers and writes their address to out, until in
// ends: the process ends with the one that started it.
func ServeFakes(in io.Reader, out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("fake browsers: %w", err)
	}
	o := &orders{addr: listener.Addr().String(), byPath: map[string]*world{}}
	go func() { _ = http.Serve(listener, o) }() // until the process ends
	if _, err := fmt.Fprintln(out, o.addr); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// ServeHTTP implements http.Handler.
func (o *orders) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/devtools/browser/"):
		if world := o.find(r.URL.Path); world != nil {
			world.browser.ServeHTTP(w, r)
			return
		}
	case strings.HasPrefix(r.URL.Path, "/fast/"):
		if world := o.find("/devtools/browser/" + r.URL.Path[len("/fast/"):]); world != nil {
			world.serve(w, r, "")
			return
		}
	case strings.HasPrefix(r.URL.Path, "/page/"):
		guid, target, _ := strings.Cut(r.URL.Path[len("/page/"):], "/")
		if world := o.find("/devtools/browser/" + guid); world != nil {
			world.serve(w, r, target)
			return
		}
	case r.Method == http.MethodPost:
		o.order(w, r)
		return
	}
	http.NotFound(w, r)
}

func (o *orders) find(path string) *world {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byPath[path]
}

func (o *orders) world(number int) *world {
	o.mu.Lock()
	defer o.mu.Unlock()
	if number < 0 || number >= len(o.worlds) {
		return nil
	}
	return o.worlds[number]
}

func (o *orders) order(w http.ResponseWriter, r *http.Request) {
	var err error
	var answer any = struct{}{}
	switch r.URL.Path {
	case "/make":
		var m Making
		if err = json.NewDecoder(r.Body).Decode(&m); err == nil {
			answer = o.make(m)
		}
	case "/drop":
		o.mu.Lock()
		all := o.worlds
		o.mu.Unlock()
		for _, world := range all {
			world.browser.DropConnections()
		}
	case "/dialog":
		var d DialogOrder
		if err = json.NewDecoder(r.Body).Decode(&d); err != nil {
			break
		}
		world := o.world(d.Number)
		if world == nil {
			err = fmt.Errorf("there is no browser %d", d.Number)
			break
		}
		world.stamps.reset()
		frame := world.browser.MainFrame(world.browser.Pages()[0].Target)
		time.AfterFunc(time.Duration(d.AfterMS)*time.Millisecond, func() {
			world.browser.OpenDialog(frame, chaos.Confirm, "go on?", "")
		})
	case "/stamps":
		var number int
		if err = json.NewDecoder(r.Body).Decode(&number); err == nil {
			if world := o.world(number); world != nil {
				answer = world.stamps.read()
			}
		}
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(answer) // the caller has gone
}

func (o *orders) make(m Making) []Place {
	places := make([]Place, m.Browsers)
	for i := range places {
		o.mu.Lock()
		number := len(o.worlds)
		w := &world{
			browser: chaos.New(chaos.Options{Seed: uint64(number + 1), Pages: 1, KeepCommands: 2}),
			inside:  transport.NewPipeListener(),
		}
		o.worlds = append(o.worlds, w)
		o.byPath[w.browser.Path()] = w
		o.mu.Unlock()
		target := w.browser.Pages()[0].Target
		main := w.browser.MainFrame(target)
		w.browser.NavigateFrame(main, "http://a.test/")
		near := w.browser.AddFrame(main, "http://a.test/near")
		for n := range m.Frames {
			w.browser.AddFrame(main, fmt.Sprintf("http://far%d.test/", n))
		}
		guid := strings.TrimPrefix(w.browser.Path(), "/devtools/browser/")
		p := Place{Number: number, Target: string(target), Frame: string(near), Page: "ws://" + o.addr + "/page/" + guid + "/" + string(target)}
		if m.Fast {
			p.Browser = "ws://" + o.addr + "/fast/" + guid
		} else {
			p.Browser = w.browser.URL(o.addr)
		}
		places[i] = p
	}
	return places
}
