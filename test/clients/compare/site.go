package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed pages
var pages embed.FS

// site serves the pages on every host, and hears what they say. A run has a path of its own.
type site struct {
	port   string
	server *http.Server

	mu   sync.Mutex
	said map[string]map[string]string // by run and key
}

func serve() (*site, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	s := &site{port: port, said: map[string]map[string]string{}}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }() // until close
	return s, nil
}

func (s *site) close() { _ = s.server.Close() }

// url is the address of a page in a run.
func (s *site) url(run, page string) string {
	return fmt.Sprintf("http://a.test:%s/%s/%s", s.port, run, page)
}

// state is what the pages of a run have said so far.
func (s *site) state(run string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.said[run])
}

func (s *site) hear(run string, words map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said[run] == nil {
		s.said[run] = map[string]string{}
	}
	maps.Copy(s.said[run], words)
}

// head is on top of every page: how it says what has come of it.
const head = `<!doctype html><meta charset="utf-8"><script>
function say(words) { navigator.sendBeacon('said', JSON.stringify(words)); }
</script>
`

// ServeHTTP implements http.Handler: /RUN/PAGE.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	run, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch name {
	case "said":
		words := map[string]string{}
		if json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&words) == nil {
			s.hear(run, words)
		}
	case "turn":
		_, _ = w.Write([]byte(s.state(run)["turn"]))
	case "broken":
		http.Error(w, "the storehouse is on fire", http.StatusInternalServerError)
	case "file.csv":
		w.Header().Set("Content-Disposition", `attachment; filename="file.csv"`)
		_, _ = w.Write([]byte("item,code\nteapot," + codeOf(run) + "\n"))
	case "slow":
		time.Sleep(800 * time.Millisecond)
		s.page(w, run, "end")
	case "guarded":
		if user, password, _ := r.BasicAuth(); user != "ann" || password != "keep out" {
			w.Header().Set("WWW-Authenticate", `Basic realm="shop"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		s.page(w, run, "end")
	case "big":
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(bigPage)
	default:
		s.page(w, run, name)
	}
}

func (s *site) page(w http.ResponseWriter, run, name string) {
	text, err := pages.ReadFile(path.Join("pages", path.Base(name)+".html"))
	if err != nil {
		http.Error(w, "no such page", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte(head + strings.NewReplacer("PORT", s.port, "RUN", run, "CODE", codeOf(run)).Replace(string(text))))
}

// codeOf is a word that only the pages of a run have.
func codeOf(run string) string {
	sum := uint32(2166136261)
	for _, b := range []byte(run) {
		sum = (sum ^ uint32(b)) * 16777619
	}
	return fmt.Sprintf("K%05d", sum%100000)
}

// bigPage is 5 MB of rows, each with a button.
var bigPage = func() []byte {
	var b bytes.Buffer
	b.WriteString(head + "<title>Stock</title><h1>Stock</h1><table>")
	for i := 0; b.Len() < 5_000_000; i++ {
		fmt.Fprintf(&b, `<tr><td>Item %d of the stock that is kept in the long hall</td><td>%d pieces, counted on the first day of the month and found to be complete by the keeper of the hall, who has signed for it</td><td><button onclick="say({ordered: '%d'})">Order %d</button></td></tr>`+"\n", i, i%97, i, i)
	}
	b.WriteString("</table>")
	return b.Bytes()
}()
