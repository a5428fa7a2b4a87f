package clients

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/proto"
)

// rodClient is the program of rod.
type rodClient struct {
	place   Place
	browser *rod.Browser
	page    *rod.Page
}

// steps of the program.
func (c *rodClient) steps() []step {
	return []step{
		{"connect_http", c.connectHTTP},
		{"connect_ws", c.connectWS},
		{"new_page", c.newPage},
		{"navigate", c.navigate},
		{"evaluate", func() (any, error) { return evalRod(c.page, "(a, b) => a * b", 6, 7) }},
		{"input", c.input},
		{"frame", c.frame},
		{"popup", c.popup},
		{"download", c.download},
		{"intercept", c.intercept},
		{"screenshot", c.screenshot},
		{"console", c.console},
		{"dialog", c.dialog},
		{"two_clients", c.twoClients},
		{"close", func() (any, error) { return false, c.page.Close() }},
	}
}

func connectRod(address string) (*rod.Browser, error) {
	b := rod.New().ControlURL(address).NoDefaultDevice()
	return b, b.Connect()
}

func evalRod(p *rod.Page, js string, args ...any) (any, error) {
	r, err := p.Eval(js, args...)
	if err != nil {
		return nil, err
	}
	return r.Value.Val(), nil
}

func (c *rodClient) connectHTTP() (any, error) {
	address, err := launcher.ResolveURL(c.place.HTTP)
	if err != nil {
		return nil, err
	}
	b, err := connectRod(address)
	if err != nil {
		return nil, err
	}
	page, err := b.Page(proto.TargetCreateTarget{})
	if err != nil {
		return nil, err
	}
	value, err := evalRod(page, `() => "connected"`)
	if err != nil {
		return nil, err
	}
	return value, page.Close()
}

func (c *rodClient) connectWS() (_ any, err error) {
	c.browser, err = connectRod(c.place.WS)
	return "connected", err
}

func (c *rodClient) newPage() (_ any, err error) {
	if c.page, err = c.browser.Page(proto.TargetCreateTarget{}); err != nil {
		return nil, err
	}
	info, err := c.page.Info()
	if err != nil {
		return nil, err
	}
	return info.URL, nil
}

func (c *rodClient) navigate() (any, error) {
	var status int
	wait := c.page.EachEvent(func(e *proto.NetworkResponseReceived) bool {
		status = e.Response.Status
		return e.Type == proto.NetworkResourceTypeDocument
	})
	if err := c.page.Navigate(c.place.Page); err != nil {
		return nil, err
	}
	wait()
	if err := c.page.WaitLoad(); err != nil {
		return nil, err
	}
	title, err := evalRod(c.page, "() => document.title")
	return fmt.Sprintf("%d %v", status, title), err
}

func (c *rodClient) click(selector string) error {
	e, err := c.page.Element(selector)
	if err != nil {
		return err
	}
	return e.Click(proto.InputMouseButtonLeft, 1)
}

func (c *rodClient) input() (any, error) {
	if err := c.click("#press"); err != nil {
		return nil, err
	}
	if err := c.click("#name"); err != nil {
		return nil, err
	}
	keys := make([]input.Key, 0, len("holdfast"))
	for _, r := range "holdfast" {
		keys = append(keys, input.Key(r))
	}
	if err := c.page.Keyboard.Type(keys...); err != nil {
		return nil, err
	}
	return evalRod(c.page, "() => `${document.querySelector('#name').value} ${window.pressed}`")
}

// frame reads the frame as a target of its own: rod's Frame knows frames of the page's process
// alone.
func (c *rodClient) frame() (any, error) {
	frame, err := evalRod(c.page, "() => document.querySelector('#frame').src")
	if err != nil {
		return nil, err
	}
	all, err := proto.TargetGetTargets{}.Call(c.browser)
	if err != nil {
		return nil, err
	}
	for _, t := range all.TargetInfos {
		if t.Type == "iframe" && t.URL == frame {
			page, err := c.browser.PageFromTarget(t.TargetID)
			if err != nil {
				return nil, err
			}
			return evalRod(page, "() => document.querySelector('#word').textContent")
		}
	}
	return nil, fmt.Errorf("no target of the frame among %d", len(all.TargetInfos))
}

func (c *rodClient) popup() (any, error) {
	wait := c.page.WaitOpen()
	if err := c.click("#popup"); err != nil {
		return nil, err
	}
	popup, err := wait()
	if err != nil {
		return nil, err
	}
	if err := popup.Wait(rod.Eval(`() => document.title !== ""`)); err != nil {
		return nil, err
	}
	title, err := evalRod(popup, "() => document.title")
	if err != nil {
		return nil, err
	}
	return title, popup.Close()
}

func (c *rodClient) download() (any, error) {
	wait := c.browser.WaitDownload(c.place.Dir)
	if err := c.click("#file"); err != nil {
		return nil, err
	}
	info := wait()
	if info == nil {
		return nil, fmt.Errorf("no download began")
	}
	return c.place.saved(info.GUID, 1024)
}

func (c *rodClient) intercept() (any, error) {
	router := c.page.HijackRequests()
	err := router.Add("*/client-data", "", func(h *rod.Hijack) {
		h.Response.Payload().ResponseCode = http.StatusOK
		h.Response.SetBody("intercepted")
	})
	if err != nil {
		return nil, err
	}
	go router.Run()
	const fetch = "() => fetch('/client-data').then((r) => r.text())"
	first, err := evalRod(c.page, fetch)
	if err != nil {
		return nil, err
	}
	if err := router.Stop(); err != nil {
		return nil, err
	}
	second, err := evalRod(c.page, fetch)
	return fmt.Sprintf("%v, %v", first, second), err
}

func (c *rodClient) screenshot() (any, error) {
	b, err := c.page.Screenshot(false, nil)
	return picture(b), err
}

func (c *rodClient) console() (any, error) {
	said := ""
	wait := c.page.EachEvent(func(e *proto.RuntimeConsoleAPICalled) bool {
		said = e.Args[0].Value.Str()
		return true
	})
	if err := c.click("#say"); err != nil {
		return nil, err
	}
	wait()
	return said, nil
}

func (c *rodClient) dialog() (any, error) {
	wait, handle := c.page.HandleDialog()
	clicked := make(chan error, 1)
	go func() { clicked <- c.click("#ask") }()
	wait()
	if err := handle(&proto.PageHandleJavaScriptDialog{Accept: true, PromptText: "ann"}); err != nil {
		return nil, err
	}
	if err := <-clicked; err != nil {
		return nil, err
	}
	return evalRod(c.page, "() => window.answer")
}

func (c *rodClient) twoClients() (any, error) {
	other, err := connectRod(c.place.WS)
	if err != nil {
		return nil, err
	}
	second, err := other.Page(proto.TargetCreateTarget{})
	if err != nil {
		return nil, err
	}
	sums, err := sumBoth(func(n, i int) (int, error) {
		r, err := []*rod.Page{c.page, second}[n].Context(context.Background()).Eval("(v) => v", i)
		if err != nil {
			return 0, err
		}
		return r.Value.Int(), nil
	})
	if err != nil {
		return nil, err
	}
	return sums, second.Close()
}

// sumBoth has two clients evaluate 10 numbers each at the same time and returns both sums.
func sumBoth(eval func(client, value int) (int, error)) (string, error) {
	var sums [2]int
	var errs [2]error
	var both sync.WaitGroup
	for n := range sums {
		both.Go(func() {
			for i := 1; i <= 10 && errs[n] == nil; i++ {
				var v int
				v, errs[n] = eval(n, i*(n+1))
				sums[n] += v
			}
		})
	}
	both.Wait()
	for _, err := range errs {
		if err != nil {
			return "", err
		}
	}
	return strings.Trim(fmt.Sprint(sums), "[]"), nil
}
