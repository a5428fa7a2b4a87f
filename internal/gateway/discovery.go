package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/gate"
	"holdfast/internal/gateway/view"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Serve answers one request below a task's CDP endpoint; rest is what follows the task in
// the path. A WebSocket lasts longer than the call. Errors are [messages.Error]; the
// answer has not begun then.
func (g *Gateway) Serve(w http.ResponseWriter, r *http.Request, id messages.TaskID, rest string, caller gate.Caller) error {
	rest = strings.Trim(rest, "/")
	if isUpgrade(r) {
		page, _ := strings.CutPrefix(rest, "devtools/page/")
		if page == rest {
			page = "" // clients append paths of their own to an endpoint
		}
		while := func() (context.Context, func()) { return caller.While(context.Background()) }
		return g.connect(w, r, id, messages.TargetID(page), while)
	}
	h, err := g.enter(r, id)
	if err != nil {
		return err
	}
	defer g.leave(h)
	d := discovery{g: g, h: h, r: r, id: id, caller: caller}
	verb, target, _ := strings.Cut(strings.TrimPrefix(rest, "json/"), "/")
	switch {
	case rest == "json", rest == "json/list":
		return d.list(w)
	case rest == "json/version":
		return d.version(w)
	case rest == "json/protocol":
		return d.protocol(w)
	case rest == "json/new" && r.Method == http.MethodPut:
		return d.open(w)
	case strings.HasPrefix(rest, "json/") && (verb == "activate" || verb == "close") && target != "":
		return d.act(w, verb, messages.TargetID(target))
	}
	return noRoute()
}

func noRoute() error {
	return messages.Errorf(messages.CodeNotFound, "a task's CDP endpoint has no such path: /cdp/TASK is its WebSocket, and /cdp/TASK/json/version tells so")
}

// discovery answers as a browser's own HTTP endpoint does, for one task.
type discovery struct {
	g      *Gateway
	h      *hub
	r      *http.Request
	id     messages.TaskID
	caller gate.Caller
}

// page is one entry of a browser's list.
type page struct {
	Description string            `json:"description"`
	Frontend    string            `json:"devtoolsFrontendUrl"`
	ID          messages.TargetID `json:"id"`
	ParentID    messages.TargetID `json:"parentId,omitempty"`
	Title       string            `json:"title"`
	Type        string            `json:"type"`
	URL         string            `json:"url"`
	WebSocket   string            `json:"webSocketDebuggerUrl"`
	Favicon     string            `json:"faviconUrl,omitempty"`
}

// address is the URL of a WebSocket of the task. A caller that has sent its token in the URL
// gets one with a ticket, so that the token stands in one place less.
func (d discovery) address(path string) (string, error) {
	scheme := "ws"
	if d.r.TLS != nil {
		scheme = "wss"
	}
	u := url.URL{Scheme: scheme, Host: d.r.Host, Path: "/cdp/" + string(d.id) + path}
	q := url.Values{}
	for _, keep := range []string{"client", "dialogs", "mode", "ping"} {
		if v := d.r.URL.Query().Get(keep); v != "" {
			q.Set(keep, v)
		}
	}
	if d.r.Header.Get("Authorization") == "" {
		ticket, _, err := d.caller.Ticket(d.id)
		if err != nil {
			return "", err
		}
		q.Set(gate.TicketParam, ticket)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func (d discovery) reply(w http.ResponseWriter, v any) error {
	body, err := json.MarshalIndent(v, "", "   ")
	if err != nil {
		return err
	}
	send(w, "application/json; charset=UTF-8", append(body, '\n'))
	return nil
}

func send(w http.ResponseWriter, kind string, body []byte) {
	head := w.Header()
	head.Set("Content-Type", kind)
	head.Set("Content-Length", strconv.Itoa(len(body)))
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(attachBudget))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // a reader that has gone is gone
}

// version is what every client asks for first.
func (d discovery) version(w http.ResponseWriter) error {
	link, session, err := d.h.await(d.r.Context())
	if err != nil {
		return err
	}
	raw, err := link.Do(d.r.Context(), session, "Browser.getVersion", nil)
	if err != nil {
		return upstream(err)
	}
	var v struct {
		Protocol string `json:"protocolVersion"`
		Product  string `json:"product"`
		Revision string `json:"revision"`
		Agent    string `json:"userAgent"`
		V8       string `json:"jsVersion"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return upstream(err)
	}
	address, err := d.address("/devtools/browser/" + string(d.id))
	if err != nil {
		return err
	}
	return d.reply(w, map[string]string{
		"Browser": v.Product, "Protocol-Version": v.Protocol, "User-Agent": v.Agent, "V8-Version": v.V8, "WebKit-Version": "537.36 (" + v.Revision + ")",
		"webSocketDebuggerUrl": address,
	})
}

func (d discovery) list(w http.ResponseWriter) error {
	if _, _, err := d.h.await(d.r.Context()); err != nil {
		return err
	}
	d.h.refresh()
	list := []page{}
	for _, t := range d.h.seen() {
		switch t.Type {
		case "tab", "browser":
			continue
		}
		p, err := d.page(t)
		if err != nil {
			return err
		}
		list = append(list, p)
	}
	return d.reply(w, list)
}

func (d discovery) page(t view.Target) (page, error) {
	var info struct {
		Title string `json:"title"`
		URL   string `json:"url"`
	}
	_ = json.Unmarshal(t.Info, &info) // it has been read before
	address, err := d.address("/devtools/page/" + string(t.ID))
	return page{ID: t.ID, Type: t.Type, Title: info.Title, URL: info.URL, WebSocket: address}, err
}

// seen are the targets of the task, in the order in which they came.
func (h *hub) seen() []view.Target {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []view.Target
	for _, id := range h.order {
		if k := h.known[id]; k.isSeen {
			list = append(list, k.Target)
		}
	}
	return list
}

func (h *hub) target(id messages.TargetID) (view.Target, error) {
	h.refresh()
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.known[id]; k != nil && k.isSeen {
		return k.Target, nil
	}
	return view.Target{}, messages.Errorf(messages.CodeTargetNotFound, "the task has no such page")
}

// open is PUT /json/new?URL.
func (d discovery) open(w http.ResponseWriter) error {
	if _, _, err := d.h.await(d.r.Context()); err != nil {
		return err
	}
	id, err := d.h.openPage(d.r.Context(), mail.OpenPage{URL: urlOf(d.r.URL.RawQuery)}, false)
	if err != nil {
		return err
	}
	t, err := d.h.target(id)
	if err != nil {
		return err
	}
	p, err := d.page(t)
	if err != nil {
		return err
	}
	return d.reply(w, p)
}

// urlOf is the URL that the query of /json/new is, without what is the gateway's.
func urlOf(query string) string {
	parts := strings.Split(query, "&")
	kept := parts[:0]
	for _, p := range parts {
		name, _, _ := strings.Cut(p, "=")
		switch name {
		case "token", gate.TicketParam, "start":
			continue
		}
		kept = append(kept, p)
	}
	text, err := url.PathUnescape(strings.Join(kept, "&"))
	if err != nil || text == "" {
		return "about:blank"
	}
	return strings.TrimPrefix(text, "url=")
}

// act is /json/activate/TARGET and /json/close/TARGET.
func (d discovery) act(w http.ResponseWriter, verb string, id messages.TargetID) error {
	link, session, err := d.h.await(d.r.Context())
	if err != nil {
		return err
	}
	if _, err := d.h.target(id); err != nil {
		return err
	}
	if verb == "close" {
		if err := d.g.cfg.Node.ClosePage(d.r.Context(), d.id, id); err != nil {
			return err
		}
		send(w, "text/html; charset=UTF-8", []byte("Target is closing"))
		return nil
	}
	params, _ := json.Marshal(map[string]messages.TargetID{"targetId": id}) // always encodes
	if _, err := link.Do(d.r.Context(), session, "Target.activateTarget", params); err != nil {
		return upstream(err)
	}
	send(w, "text/html; charset=UTF-8", []byte("Target activated"))
	return nil
}
