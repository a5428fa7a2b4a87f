package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"holdfast/internal/browser"
)

// launchPatience is how long a browser may take to start, or to end.
const launchPatience = 30 * time.Second

// Chromium is a real browser, started for the bench.
type Chromium struct {
	manager *browser.Manager
	dir     string
	addr    string
	ws      string
	Version string
}

// LaunchChromium starts one. Iframes of other sites are processes of their own,
// and every host under .test is this machine.
func LaunchChromium() (*Chromium, error) {
	dir, err := os.MkdirTemp("", "hf-bench-")
	if err != nil {
		return nil, err
	}
	c := &Chromium{dir: dir}
	c.manager, err = browser.NewManager(browser.Options{
		StateDir: dir, Logger: slog.New(slog.DiscardHandler), Transport: browser.TransportPort, Isolation: browser.IsolationOff,
		ExtraArgs: []string{"--site-per-process", "--host-resolver-rules=MAP *.test 127.0.0.1"},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), launchPatience)
	defer cancel()
	p, err := c.manager.Launch(ctx, browser.LaunchOptions{IsHeadless: true})
	if err != nil {
		return nil, fmt.Errorf("launch Chromium: %w", err)
	}
	c.ws = p.Endpoint().Reveal()
	u, err := url.Parse(c.ws)
	if err != nil {
		return nil, err
	}
	c.addr = u.Host
	var version struct{ Browser string }
	if err := c.get(http.MethodGet, "/json/version", &version); err != nil {
		return nil, err
	}
	c.Version = version.Browser
	return c, nil
}

// Close ends the browser.
func (c *Chromium) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), launchPatience)
	defer cancel()
	err := c.manager.Close(ctx)
	_ = os.RemoveAll(c.dir) // a temporary directory
	return err
}

// Addr is the DevTools host and port.
func (c *Chromium) Addr() string { return c.addr }

// URL is the browser's own address.
func (c *Chromium) URL() string { return c.ws }

// Open opens a tab and returns it as a place; addr is where clients find the
// browser, its own or a proxy's.
func (c *Chromium) Open(page, addr string) (Place, error) {
	var t struct{ ID string }
	if err := c.get(http.MethodPut, "/json/new?"+url.QueryEscape(page), &t); err != nil {
		return Place{}, err
	}
	u, err := url.Parse(c.ws)
	if err != nil {
		return Place{}, err
	}
	u.Host = addr
	return Place{Browser: u.String(), Page: "ws://" + addr + "/devtools/page/" + t.ID, Target: t.ID}, nil
}

// Alone opens a tab, closes all others, and returns when its iframes have
// processes: as many as its address says.
func (c *Chromium) Alone(page, addr string) (Place, error) {
	u, err := url.Parse(page)
	if err != nil {
		return Place{}, err
	}
	want, _ := strconv.Atoi(u.Query().Get("iframes")) // none
	p, err := c.Open(page, addr)
	if err != nil {
		return Place{}, err
	}
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		var targets []struct{ ID, Type, URL string }
		if err := c.get(http.MethodGet, "/json/list", &targets); err != nil {
			return Place{}, err
		}
		iframes, others := 0, 0
		for _, t := range targets {
			switch {
			case t.Type == "iframe":
				iframes++
			case t.Type == "page" && t.ID != p.Target:
				others++
				_ = c.get(http.MethodGet, "/json/close/"+t.ID, nil) // it may be closing already; the list shows it
			}
		}
		if iframes == want && others == 0 {
			return p, nil
		}
		if time.Since(begun) > launchPatience {
			return Place{}, fmt.Errorf("Chromium: %d of %d iframes, and %d other pages", iframes, want, others)
		}
	}
}

func (c *Chromium) get(method, path string, answer any) error {
	r, err := http.NewRequest(method, "http://"+c.addr+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("Chromium: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("Chromium: %s: %s", path, bytes.TrimSpace(body))
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(body, answer)
}
