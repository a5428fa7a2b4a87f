package clients

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

// chromedpClient is the program of chromedp.
type chromedpClient struct {
	place   Place
	browser context.Context
	page    context.Context
	leave   context.CancelFunc // closes the page
}

// steps of the program. The frame is read from its own target, as chromedp has it.
func (c *chromedpClient) steps() []step {
	return []step{
		{"connect_http", c.connectHTTP},
		{"connect_ws", c.connectWS},
		{"new_page", c.newPage},
		{"navigate", c.navigate},
		{"evaluate", func() (any, error) { return chromedp.Run(c.page, chromedp.Evaluate[int]("6 * 7")) }},
		{"input", c.input},
		{"frame", c.frame},
		{"popup", c.popup},
		{"download", c.download},
		{"intercept", c.intercept},
		{"screenshot", c.screenshot},
		{"console", c.console},
		{"dialog", c.dialog},
		{"two_clients", c.twoClients},
		{"close", func() (any, error) { return false, chromedp.Cancel(c.page) }},
	}
}

// connectChromedp connects and opens a page, as the first action does.
func connectChromedp(address string) (context.Context, context.CancelFunc, error) {
	ctx, end := remote.NewAllocator(context.Background(), address)
	ctx, leave := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	return ctx, func() { leave(); end() }, chromedp.Do(ctx)
}

func (c *chromedpClient) connectHTTP() (any, error) {
	ctx, leave, err := connectChromedp(c.place.HTTP)
	defer leave()
	if err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[string](`"connected"`))
}

func (c *chromedpClient) connectWS() (_ any, err error) {
	c.browser, c.leave, err = connectChromedp(c.place.WS)
	return "connected", err
}

func (c *chromedpClient) newPage() (any, error) {
	c.page, _ = chromedp.NewContext(c.browser)
	return chromedp.Run(c.page, chromedp.Location())
}

func (c *chromedpClient) navigate() (any, error) {
	r, err := chromedp.Run(c.page, chromedp.NavigateResponse(c.place.Page))
	if err != nil {
		return nil, err
	}
	title, err := chromedp.Run(c.page, chromedp.Title())
	return fmt.Sprintf("%d %s", r.Status, title), err
}

func (c *chromedpClient) click(selector string) error {
	return chromedp.Do(c.page, chromedp.Click(chromedp.CSS(selector)))
}

func (c *chromedpClient) input() (any, error) {
	if err := c.click("#press"); err != nil {
		return nil, err
	}
	if err := chromedp.Do(c.page, chromedp.SendKeys(chromedp.CSS("#name"), "holdfast")); err != nil {
		return nil, err
	}
	return chromedp.Run(c.page, chromedp.Evaluate[string]("`${document.querySelector('#name').value} ${window.pressed}`"))
}

func (c *chromedpClient) frame() (any, error) {
	all, err := chromedp.Targets(c.page)
	if err != nil {
		return nil, err
	}
	frame, err := chromedp.Run(c.page, chromedp.Evaluate[string]("document.querySelector('#frame').src"))
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Type == "iframe" && t.URL == frame {
			ctx, leave := chromedp.NewContext(c.page, chromedp.WithTargetID(t.TargetID), chromedp.WithDetachOnCancel())
			defer leave()
			return chromedp.Run(ctx, chromedp.Evaluate[string]("document.querySelector('#word').textContent"))
		}
	}
	return nil, fmt.Errorf("no target of the frame among %d", len(all))
}

func (c *chromedpClient) popup() (any, error) {
	opened := chromedp.WaitNewTarget(c.page, func(i *target.Info) bool { return i.OpenerID != "" })
	if err := c.click("#popup"); err != nil {
		return nil, err
	}
	id, ok := <-opened
	if !ok {
		return nil, fmt.Errorf("no popup")
	}
	ctx, leave := chromedp.NewContext(c.page, chromedp.WithTargetID(id))
	defer leave()
	if err := chromedp.Do(ctx, chromedp.WaitReady(chromedp.CSS("#popup-body"))); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.Title())
}

func (c *chromedpClient) download() (any, error) {
	_, err := chromedp.CallBrowser(c.page, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: c.place.Dir,
	})
	if err != nil {
		return nil, err
	}
	if err := c.click("#file"); err != nil {
		return nil, err
	}
	return c.place.saved("file.bin", 1024)
}

func (c *chromedpClient) intercept() (any, error) {
	ctx, stop := context.WithCancel(c.page)
	defer stop()
	failed := make(chan error, 1)
	err := chromedp.Listen(ctx, func(ev any) {
		paused, ok := ev.(*fetch.EventRequestPaused)
		if !ok {
			return
		}
		go func() {
			_, err := chromedp.Call(c.page, fetch.FulfillRequest, fetch.FulfillRequestParams{
				RequestID: paused.RequestID, ResponseCode: 200, Body: []byte("intercepted"),
			})
			failed <- err
		}()
	})
	if err != nil {
		return nil, err
	}
	if _, err := chromedp.Call(c.page, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/client-data"}}}); err != nil {
		return nil, err
	}
	get := chromedp.Evaluate[string]("fetch('/client-data').then((r) => r.text())", chromedp.EvalAwaitPromise)
	first, err := chromedp.Run(c.page, get)
	if err != nil {
		return nil, err
	}
	if err := <-failed; err != nil {
		return nil, err
	}
	if _, err := chromedp.Call(c.page, fetch.Disable, cdp.Empty{}); err != nil {
		return nil, err
	}
	second, err := chromedp.Run(c.page, get)
	return first + ", " + second, err
}

func (c *chromedpClient) screenshot() (any, error) {
	b, err := chromedp.Run(c.page, chromedp.CaptureScreenshot())
	return picture(b), err
}

func (c *chromedpClient) console() (any, error) {
	ctx, stop := context.WithCancel(c.page)
	defer stop()
	said := chromedp.Console(ctx)
	if err := c.click("#say"); err != nil {
		return nil, err
	}
	for m, err := range said {
		return m.Text, err
	}
	return nil, fmt.Errorf("the console ended")
}

func (c *chromedpClient) dialog() (any, error) {
	ctx, stop := context.WithCancel(c.page)
	defer stop()
	opened := make(chan struct{}, 1)
	err := chromedp.Listen(ctx, func(ev any) {
		if _, ok := ev.(*page.EventJavascriptDialogOpening); ok {
			opened <- struct{}{}
		}
	})
	if err != nil {
		return nil, err
	}
	clicked := make(chan error, 1)
	go func() { clicked <- c.click("#ask") }()
	<-opened
	if _, err := chromedp.Call(c.page, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true, PromptText: "ann"}); err != nil {
		return nil, err
	}
	if err := <-clicked; err != nil {
		return nil, err
	}
	return chromedp.Run(c.page, chromedp.Evaluate[string]("window.answer"))
}

func (c *chromedpClient) twoClients() (any, error) {
	second, leave, err := connectChromedp(c.place.WS)
	defer leave()
	if err != nil {
		return nil, err
	}
	return sumBoth(func(n, i int) (int, error) {
		return chromedp.Run([]context.Context{c.page, second}[n], chromedp.Evaluate[int](fmt.Sprint(i)))
	})
}
