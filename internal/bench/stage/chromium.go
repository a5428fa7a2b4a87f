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
		StateDir: dir, Logger: slog.New(slog.DiscardHandler),
		ExtraArgs: []string{"--site-per-process", "--host-resolver-rules=MAP *.test 127.0.0.1"},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), launchPatience)
	defer cancel()
	p, err := c.manager.Launch(ctx, browser.LaunchOptions{Headless: true})
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

// Shut closes a tab.
func (c *Chromium) Shut(target string) error {
	return c.get(http.MethodGet, "/json/close/"+target, nil)
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
