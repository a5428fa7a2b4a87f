package page_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/page"
	"holdfast/actors/session/sessiontest"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestEveryRequestEndsOnce plays pages, links and dialogs against the session's half of
// the bridge by requests, in any order. Of each request that is held there is one end:
// an answer by who was asked, or a failure; also of those that a page makes up by a name
// that it has seen, while another waits by it or has waited. Nothing is a dialog of which not both the
// word and the request have come; and a response that a page could have asked for
// without our word never carries what proves it ours.
func TestEveryRequestEndsOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := page.Config{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}, IsPage: true, Bridge: bridge.Settings{IsOn: true, By: mail.ByRequest, Epoch: 1, Secret: bridge.NewSecret(sessiontest.Secret)}}
		w := &requestWorld{T: t, cfg: cfg, m: page.New(cfg), now: sessiontest.Epoch, timers: map[effect.Timer]time.Time{}, requests: map[string]*heldBy{}, words: map[string]bool{}}
		w.step(effect.Start{})
		t.Repeat(map[string]func(*rapid.T){
			"a call": func(t *rapid.T) {
				key := w.newKey()
				if rapid.Bool().Draw(t, "a question") {
					w.binding("?" + key)
				} else {
					w.binding(key + " confirm 4 5 u://sure?")
				}
				w.words[key] = true
			},
			"its request": func(t *rapid.T) { w.held(t, w.anyKey(t)) },
			"a request made up": func(t *rapid.T) {
				w.held(t, w.newKey())
			},
			"an account": func(t *rapid.T) { w.binding(rapid.SampledFrom([]string{"+", "-"}).Draw(t, "heard")) },
			"an answer": func(t *rapid.T) {
				if len(w.open) > 0 {
					w.answer(w.open[rapid.IntRange(0, len(w.open)-1).Draw(t, "which")])
				}
			},
			"another dialog actor": func(*rapid.T) {
				w.open = nil
				w.step(effect.TellAgain{})
			},
			"another document": func(*rapid.T) { w.document() },
			"a navigation begins": func(*rapid.T) {
				w.step(w.cfg.Source().Decode(w.now, "Page.frameStartedNavigating", []byte(`{"frameId":"T","loaderId":"L"}`)))
			},
			"time": func(t *rapid.T) {
				w.pass(time.Duration(rapid.IntRange(1, 800).Draw(t, "ms")) * time.Millisecond)
			},
		})
		// All who ask are answered, and the last go with the bridge.
		for len(w.open) > 0 {
			w.answer(w.open[0])
		}
		w.pass(5 * time.Second)
		for len(w.open) > 0 {
			w.answer(w.open[0])
		}
		w.step(mail.SetBridge{Epoch: 2})
		for id, h := range w.requests {
			if h.ends != 1 {
				t.Errorf("request %s by the name of %s has ended %d times", id, h.key, h.ends)
			}
		}
	})
}

type heldBy struct {
	key  string
	role messages.Role
	ends int
	// elsewhere says that the other link has answered it, of which this session hears
	// nothing: to fail it once more does no harm.
	elsewhere bool
	// gone says that it has passed to the other link, and ended for this one.
	gone bool
}

type requestWorld struct {
	*rapid.T
	cfg      page.Config
	m        *page.Machine
	now      time.Time
	timers   map[effect.Timer]time.Time
	keys     []string
	words    map[string]bool
	requests map[string]*heldBy
	open     []mail.DialogOpened
	dialogs  int
}

func (w *requestWorld) newKey() string {
	key := fmt.Sprintf("1-2-3-%d", len(w.keys))
	w.keys = append(w.keys, key)
	return key
}

func (w *requestWorld) anyKey(t *rapid.T) string {
	if len(w.keys) == 0 {
		return w.newKey()
	}
	return rapid.SampledFrom(w.keys).Draw(t, "key")
}

func (w *requestWorld) held(t *rapid.T, key string) {
	r := mail.RequestHeld{Role: messages.Role(rapid.IntRange(0, 1).Draw(t, "link")), Gen: 1, Key: key, Frame: "T", Request: fmt.Sprintf("job-%d", len(w.requests))}
	for _, h := range w.requests {
		// The same link is told of what is made up, another of what passes on.
		if h.key == key && h.ends == 0 && h.role != r.Role {
			h.gone, h.ends = true, 1
		}
	}
	w.requests[r.Request] = &heldBy{key: key, role: r.Role}
	w.step(r)
}

func (w *requestWorld) binding(payload string) {
	said, _ := json.Marshal(sessiontest.Secret[16:32] + payload)
	w.step(w.cfg.Source().Decode(w.now, "Runtime.bindingCalled", fmt.Appendf(nil, `{"name":%q,"payload":%s,"executionContextId":3}`, bridge.NewSecret(sessiontest.Secret).Binding(), said)))
}

func (w *requestWorld) document() {
	w.step(w.cfg.Source().Decode(w.now, "Page.frameNavigated", []byte(`{"frame":{"id":"T","loaderId":"L","url":"http://a.test/","securityOrigin":"http://a.test"},"type":"Navigation"}`)))
}

// answer is what the dialog actor and the link that holds the request do.
func (w *requestWorld) answer(o mail.DialogOpened) {
	w.closed(func(p mail.DialogOpened) bool { return p.Pause.Request == o.Pause.Request })
	if o.Role == messages.RolePrimary {
		w.dialogs++
		h := mail.HandleDialog{Dialog: messages.NewDialogID(uint64(w.dialogs)), Session: o.Session, Page: o.Page, MustAccept: true, Pause: o.Pause}
		if o.Type == "" {
			h.Dialog = "" // no actor remembers it
		}
		w.step(h)
		return
	}
	if h := w.requests[o.Pause.Request]; !h.gone {
		h.elsewhere = true
		w.ended(o.Pause.Request)
	}
}

func (w *requestWorld) closed(which func(mail.DialogOpened) bool) {
	w.open = slices.DeleteFunc(w.open, which)
}

func (w *requestWorld) ended(id string) {
	if h := w.requests[id]; h == nil {
		w.Errorf("the end of %s, which nobody holds", id)
	} else if h.ends++; h.ends > 1 {
		w.Errorf("request %s has ended %d times", id, h.ends)
	}
}

func (w *requestWorld) pass(span time.Duration) {
	for end := w.now.Add(span); ; {
		var next effect.Timer
		for timer, at := range w.timers {
			if !at.After(end) && (next.Name == "" || at.Before(w.timers[next]) || at.Equal(w.timers[next]) && timer.String() < next.String()) {
				next = timer
			}
		}
		if next.Name == "" {
			w.now = end
			return
		}
		w.now = w.timers[next]
		delete(w.timers, next)
		w.step(effect.TimerFired{Timer: next})
	}
}

func (w *requestWorld) step(in any) {
	var replies []effect.Command
	for _, e := range w.m.Step(w.now, in) {
		switch e := e.(type) {
		case effect.Arm:
			w.timers[e.Timer] = w.now.Add(e.After)
		case effect.Disarm:
			delete(w.timers, e.Timer)
		case effect.Command:
			w.command(e)
			replies = append(replies, e)
		case effect.ToDialog:
			w.toDialog(e.Msg)
		case effect.ToSupervisor:
			switch msg := e.Msg.(type) {
			case mail.EndRequest:
				w.ends(msg.Request, msg.Answer)
			case mail.RequestHeld: // the anchor's to decide: it has no word either
				w.ends(msg.Request, nil)
			}
		}
	}
	for _, c := range replies {
		if strings.HasPrefix(c.Method, "Fetch.fulfill") || c.Method == "Network.getSecurityIsolationStatus" {
			w.step(effect.Replied{Tag: c.Tag, Result: []byte(`{}`)})
		}
	}
}

func (w *requestWorld) toDialog(msg any) {
	switch o := msg.(type) {
	case mail.DialogOpened:
		h := w.requests[o.Pause.Request]
		if h != nil && (h.elsewhere || h.gone) {
			return // and is resumed once more
		}
		if h == nil || h.key != o.Pause.Key || h.role != o.Role || h.ends > 0 {
			w.Fatalf("told of %+v, whose request is %+v", o, h)
		}
		if o.Type != "" && !w.words[o.Pause.Key] {
			w.Errorf("told of %+v without a word", o)
		}
		w.closed(func(p mail.DialogOpened) bool {
			return p.Pause.Request == o.Pause.Request || o.Type != "" && p.Type != "" && p.Pause.Key == o.Pause.Key
		})
		w.open = append(w.open, o)
	case mail.BridgedOver:
		// A request without a message is continued.
		w.closed(func(p mail.DialogOpened) bool {
			return p.Pause.Key == o.Key && (p.Type != "" || w.requests[p.Pause.Request].ends > 0)
		})
	}
}

func (w *requestWorld) command(c effect.Command) {
	var p struct {
		Request string `json:"requestId"`
		Body    string `json:"body"`
	}
	switch c.Method {
	case "Fetch.fulfillRequest":
		_ = json.Unmarshal(c.Params, &p)
		w.ends(p.Request, []byte(p.Body))
	case "Fetch.failRequest":
		_ = json.Unmarshal(c.Params, &p)
		w.ends(p.Request, nil)
	}
}

func (w *requestWorld) ends(id string, answer []byte) {
	if h := w.requests[id]; h != nil && (h.gone || h.elsewhere && answer == nil) {
		return
	}
	w.ended(id)
	if h := w.requests[id]; h != nil && answer != nil && !w.words[h.key] {
		w.Errorf("request %s, which nobody has said a word of, is answered", id)
	}
}
