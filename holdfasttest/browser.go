package holdfasttest

import (
	"net/http"
	"sync"

	"holdfast"
	"holdfast/chaos"
	"holdfast/messages"
	"holdfast/transport"
)

// Browser is a fake browser. Its methods are safe for concurrent use. None of them but
// Close waits: what they do to a page takes effect in the order of the calls.
type Browser struct {
	fake     *chaos.Browser
	listener *transport.PipeListener
	server   *http.Server
	served   sync.WaitGroup
	close    func()
}

// NewBrowser starts a fake browser. Close ends it.
func NewBrowser() *Browser {
	b := &Browser{fake: chaos.New(chaos.Options{Pages: 1, Seed: 1}), listener: transport.NewPipeListener()}
	b.server = &http.Server{Handler: b.fake}
	b.served.Go(func() { _ = b.server.Serve(b.listener) })
	b.close = sync.OnceFunc(func() {
		b.fake.Close()
		_ = b.server.Close()
		_ = b.listener.Close()
		b.served.Wait()
	})
	return b
}

// Close ends the browser and every connection to it. It may be called more than once.
func (b *Browser) Close() { b.close() }

// Option has a node's tasks attach to this browser, in memory.
func (b *Browser) Option() holdfast.Option {
	return func(c *holdfast.Config) { c.CDPURLOverride, c.HTTPClient = b.url(), b.listener.HTTPClient() }
}

func (b *Browser) url() messages.CDPURL {
	u, err := messages.ParseCDPURL(b.fake.URL("fake.invalid:9222"))
	if err != nil {
		panic("holdfasttest: the fake browser's own URL is malformed: " + err.Error())
	}
	return u
}
