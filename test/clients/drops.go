package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/proto"
)

// driver is a client whose browser's connections are cut under it.
type driver interface {
	// begin connects, sets in a page what is to outlive the cuts, and goes to the place.
	begin() error
	// eval evaluates an expression that returns whether all is right.
	eval(expression string) (bool, error)
	// load goes to the place anew.
	load() error
}

// calls is how often a page's binding has been called, for each value.
type calls chan string

// runDrops makes the steps of the drops: as programs/drops.mjs.
func runDrops(d driver, n int, bound calls) {
	out := json.NewEncoder(os.Stdout)
	report := func(name string, act func() (bool, error)) {
		_ = out.Encode(step{name, func() (any, error) { return act() }}.line())
	}
	report("begun", func() (bool, error) { return true, d.begin() })
	names := []string{"evaluate", "binding", "emulation", "interception", "script"}
	kinds := map[string]func(i int) (bool, error){
		"evaluate": func(i int) (bool, error) { return d.eval(fmt.Sprintf("%d === %d", i, i)) },
		"binding": func(i int) (bool, error) {
			if ok, err := d.eval(fmt.Sprintf("(bound('%d'), true)", i)); !ok || err != nil {
				return ok, err
			}
			// A call that a cut has taken along is not made again.
			for late := time.After(2 * time.Second); ; {
				select {
				case v := <-bound:
					if v == fmt.Sprint(i) {
						return true, nil
					}
				case <-late:
					return i < lastValue, nil
				}
			}
		},
		"emulation": func(int) (bool, error) { return d.eval("matchMedia('(prefers-color-scheme: dark)').matches") },
		"interception": func(int) (bool, error) {
			return d.eval("fetch('/client-data').then((r) => r.text()).then((v) => v === 'intercepted')")
		},
		"script": func(int) (bool, error) {
			if err := d.load(); err != nil {
				return false, err
			}
			return d.eval("window.planted === 'planted'")
		},
	}
	for i := range n {
		name := names[i%len(names)]
		report(fmt.Sprintf("%d %s", i, name), func() (bool, error) { return kinds[name](i) })
	}
	report("done", func() (bool, error) { return true, nil })
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	report("settled", func() (bool, error) { // a command may have been under way at the last cut
		for end := time.Now().Add(limit); time.Now().Before(end); {
			if ok, err := kinds["evaluate"](lastValue); ok && err == nil {
				return true, nil
			}
		}
		return false, nil
	})
	for _, name := range names {
		report("last "+name, func() (bool, error) { return kinds[name](lastValue) })
	}
}

// lastValue is what the steps after the last cut are about.
const lastValue = 1000

const planted = "window.planted = 'planted'"

// chromedpDriver drives by chromedp.
type chromedpDriver struct {
	place Place
	ctx   context.Context
	bound calls
}

func (d *chromedpDriver) begin() (err error) {
	if d.ctx, _, err = connectChromedp(d.place.WS); err != nil {
		return err
	}
	err = chromedp.Listen(d.ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventBindingCalled:
			select {
			case d.bound <- ev.Payload:
			default:
			}
		case *fetch.EventRequestPaused:
			go func() { // a request that a cut has taken along fails
				_, _ = chromedp.Call(d.ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: ev.RequestID, ResponseCode: http.StatusOK, Body: []byte("intercepted")})
			}()
		}
	})
	if err != nil {
		return err
	}
	return chromedp.Do(d.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: planted}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, t, runtime.AddBinding, runtime.AddBindingParams{Name: "bound"}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/client-data"}}})
		return err
	}), chromedp.Navigate(d.place.Page))
}

func (d *chromedpDriver) eval(expression string) (bool, error) {
	ctx, cancel := context.WithTimeout(d.ctx, limit)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[bool](expression, chromedp.EvalAwaitPromise))
}

func (d *chromedpDriver) load() error {
	ctx, cancel := context.WithTimeout(d.ctx, limit)
	defer cancel()
	return chromedp.Do(ctx, chromedp.Navigate(d.place.Page))
}

// rodDriver drives by rod.
type rodDriver struct {
	place Place
	page  *rod.Page
	bound calls
}

func (d *rodDriver) begin() error {
	b, err := connectRod(d.place.WS)
	if err != nil {
		return err
	}
	if d.page, err = b.Page(proto.TargetCreateTarget{}); err != nil {
		return err
	}
	go d.page.EachEvent(func(e *proto.RuntimeBindingCalled) {
		select {
		case d.bound <- e.Payload:
		default:
		}
	}, func(e *proto.FetchRequestPaused) {
		go func() { // a request that a cut has taken along fails
			_ = proto.FetchFulfillRequest{RequestID: e.RequestID, ResponseCode: http.StatusOK, Body: []byte("intercepted")}.Call(d.page)
		}()
	})()
	if _, err := d.page.EvalOnNewDocument(planted); err != nil {
		return err
	}
	if err := (proto.RuntimeAddBinding{Name: "bound"}).Call(d.page); err != nil {
		return err
	}
	if err := (proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}).Call(d.page); err != nil {
		return err
	}
	if err := (proto.FetchEnable{Patterns: []*proto.FetchRequestPattern{{URLPattern: "*/client-data"}}}).Call(d.page); err != nil {
		return err
	}
	return d.load()
}

func (d *rodDriver) eval(expression string) (bool, error) {
	r, err := d.page.Timeout(limit).Evaluate(rod.Eval("() => " + expression).ByPromise())
	if err != nil {
		return false, err
	}
	return r.Value.Bool(), nil
}

func (d *rodDriver) load() error {
	p := d.page.Timeout(limit)
	if err := p.Navigate(d.place.Page); err != nil {
		return err
	}
	return p.WaitLoad()
}
