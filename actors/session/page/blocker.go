package page

import (
	_ "embed"
	"strconv"
	"strings"
	"time"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Watches is a set of what a session watches its documents for, besides dialogs (X27).
type Watches uint8

// What can be watched for.
const (
	WatchChooser      Watches = 1 << iota // file choosers, which the browser does not open
	CancelChooser                         // and tells the page that it was cancelled
	WatchPermission                       // questions for permissions, which wait for a word
	WatchPrint                            // calls of print, which the browser does not carry out
	AcceptCertificate                     // certificates that do not hold are accepted
)

// WatchesOf is what policies have a session watch for.
func WatchesOf(p *messages.BlockerPolicies) (w Watches) {
	if p == nil {
		return 0
	}
	switch p.Of(messages.BlockerFileChooser) {
	case messages.BlockersAsk:
		w |= WatchChooser
	case messages.BlockersDismiss:
		w |= WatchChooser | CancelChooser
	}
	if p.Of(messages.BlockerPermission) != messages.BlockersLeave {
		w |= WatchPermission
	}
	if p.Of(messages.BlockerPrint) != messages.BlockersLeave {
		w |= WatchPrint
	}
	if p.Of(messages.BlockerCertificate) == messages.BlockersAccept {
		w |= AcceptCertificate
	}
	return w
}

//go:embed asks.js
var asksSource string

// askGrace is how much later than the watchdog a page continues by itself, where no link is left that
// could tell it.
const askGrace = time.Second

// watchBlockers has the session hear of what the documents ask for.
func (m *Machine) watchBlockers() {
	w := m.cfg.Watches
	if w&WatchChooser != 0 {
		m.send("Page.setInterceptFileChooserDialog", struct {
			Enabled bool `json:"enabled"`
			Cancel  bool `json:"cancel,omitempty"`
		}{true, w&CancelChooser != 0})
	}
	if w&AcceptCertificate != 0 && m.cfg.IsPage {
		m.send("Security.setIgnoreCertificateErrors", struct {
			Ignore bool `json:"ignore"`
		}{true})
	}
	if name := m.cfg.Bridge.Secret.Asks(); name != "" && w&(WatchPermission|WatchPrint) != 0 {
		m.send("Runtime.addBinding", struct {
			Name string `json:"name"`
		}{name})
		m.send("Page.addScriptToEvaluateOnNewDocument", struct {
			Source string `json:"source"`
			Now    bool   `json:"runImmediately"`
		}{asksScript(name, w, m.cfg.AskPatience+askGrace), true})
	}
}

func asksScript(name string, w Watches, patience time.Duration) string {
	var words []string
	if w&WatchPermission != 0 {
		words = append(words, string(messages.BlockerPermission))
	}
	if w&WatchPrint != 0 {
		words = append(words, string(messages.BlockerPrint))
	}
	return strings.NewReplacer("NAME", name, "PATIENCE", strconv.FormatInt(patience.Milliseconds(), 10), "WATCHES", strings.Join(words, " ")).Replace(asksSource)
}

// send is a command whose outcome nothing waits for.
func (m *Machine) send(method string, params any) {
	m.do(effect.Command{Tag: effect.Tag{Kind: effect.TagNone}, Method: method, Params: effect.Params(params)})
}

// settleBlocker has a page go on that waits for a word about a permission. The browser takes both
// commands in their order.
func (m *Machine) settleBlocker(o mail.SettleBlocker) {
	if o.Setting != "" {
		for name := range strings.SplitSeq(o.Asked.Names, ",") {
			p := permissionParams{Origin: o.Asked.Top, Setting: o.Setting, Context: o.Context}
			p.Permission.Name = name
			if o.Asked.Origin != o.Asked.Top {
				p.Embedded = o.Asked.Origin
			}
			m.do(effect.Command{IsOnRoot: true, Tag: effect.Tag{Kind: effect.TagNone}, Method: "Browser.setPermission", Params: effect.Params(p)})
		}
	}
	// Both texts are of letters, digits and signs that stand for themselves.
	m.send("Runtime.evaluate", struct {
		Expression string `json:"expression"`
		Context    int64  `json:"contextId"`
		Silent     bool   `json:"silent"`
	}{"dispatchEvent(new CustomEvent('" + m.cfg.Bridge.Secret.Asks() + "', {detail: " + strconv.Quote(o.Asked.Key) + "}))", o.Asked.Context, true})
}

type permissionParams struct {
	Permission struct {
		Name string `json:"name"`
	} `json:"permission"`
	Setting  string `json:"setting"`
	Origin   string `json:"origin"`
	Embedded string `json:"embeddedOrigin,omitempty"`
	Context  string `json:"browserContextId,omitempty"`
}

// errorPageBudget bounds the questions about the browser's own page, in which no script of a site
// runs.
const errorPageBudget = 3 * time.Second

// errorPageScript asks a page of the browser's own what it is about. It is no page of a site: such
// a one has an address that can be reached. The raw data are those that Chrome's own script shows.
const errorPageScript = `(() => {
  const raw = globalThis.loadTimeDataRaw || {}, nav = performance.getEntriesByType('navigation')[0] || {};
  return {isOwn: location.protocol === 'chrome-error:', status: nav.responseStatus || 0, type: String(raw.type || ''), code: String(raw.errorCode || '')};
})()`

// lookForBlocker asks of a new document whether something else is shown in its place.
func (m *Machine) lookForBlocker(isPDF bool) {
	if isPDF {
		m.raise(messages.Blocker{Type: messages.BlockerPDF, URL: m.url})
		return
	}
	if !decode.IsErrorPage(m.url) {
		return
	}
	m.unreachable = ""
	m.do(effect.Command{Tag: effect.Tag{Kind: TagUnreachable, Round: m.round}, Method: "Page.getFrameTree", Timeout: errorPageBudget})
	m.do(effect.Command{Tag: effect.Tag{Kind: TagErrorPage, Round: m.round}, Method: "Runtime.evaluate", Timeout: errorPageBudget, Params: effect.Params(struct {
		Expression string `json:"expression"`
		ByValue    bool   `json:"returnByValue"`
	}{errorPageScript, true})})
}

// errorPageReplied takes the address first, and then what keeps it from being shown.
func (m *Machine) errorPageReplied(r effect.Replied) {
	if r.Err != nil || r.Tag.Round != m.round {
		return
	}
	if r.Tag.Kind == TagUnreachable {
		m.unreachable = decode.Unreachable(r.Result)
		return
	}
	at := m.unreachable
	m.unreachable = ""
	status, about, code := decode.ErrorPage(r.Result)
	if kind := messages.BlockerOf(status, about, code); kind != "" && at != "" {
		m.raise(messages.Blocker{Type: kind, URL: at, Reason: code})
	}
}

// raise tells of what keeps the page's own document from being shown.
func (m *Machine) raise(b messages.Blocker) {
	b.FrameID = messages.FrameID(m.cfg.Target)
	m.do(effect.ToSupervisor{Msg: mail.BlockerRaised{Gen: m.cfg.Gen, Page: m.cfg.Page, Target: m.cfg.Target, Blocker: b}})
}
