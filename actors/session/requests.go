package session

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// requests is the browser's half of [byRequest], on either link: one Fetch.enable
// for all of its pages, their frames, and those to come (C40). Nothing but the
// bridge's own addresses is held.
type requests struct {
	secret BridgeSecret
	do     func(Effect)
	linked bool
	on     bool
	asked  int // the browser, and it has not answered; counted down on the primary link
}

// newRequests returns the half of a link that is being dialled.
func newRequests(secret BridgeSecret, do func(Effect)) requests {
	return requests{secret: secret, do: do}
}

// isOn says that the browser was asked, and not told otherwise since.
func (r *requests) isOn() bool { return r.on }

// begin is for a link that stands.
func (r *requests) begin(b Bridge) {
	r.linked = true
	r.hear(b)
}

// hear turns it on or off.
func (r *requests) hear(b Bridge) {
	on := b.On && b.By == mail.ByRequest
	switch {
	case !r.linked:
		return
	case on && !r.on:
		r.asked++
		r.do(rootCommand(Tag{Kind: TagRequests}, "Fetch.enable", fetchPatterns{[]requestPattern{
			{"https://" + r.secret.Host() + "/*", "XHR"}, {"*://*/" + r.secret.Path() + "/*", "XHR"},
		}}, AttachBudget))
	case !on && r.on:
		r.do(Command{Root: true, Tag: Tag{Kind: TagNone}, Method: "Fetch.disable"})
	}
	r.on = on
}

// stands says that it is on, by the browser's word.
func (r *requests) stands() bool { return r.on && r.asked == 0 }

// answered is the browser's word. After a no it may be asked again.
func (r *requests) answered(err error) {
	if r.asked--; r.asked == 0 && err != nil {
		r.on = false
	}
}

// requestPaused is a request that the browser holds for us. One without a label is
// nobody's.
type requestPaused struct{ mail.RequestHeld }

// heard lets go what only looks like a request of the bridge.
func (r *requests) heard(p requestPaused) bool {
	if p.Label == "" || !r.on {
		r.do(Command{Root: true, Tag: Tag{Kind: TagNone}, Method: "Fetch.continueRequest", Params: mustJSON(struct {
			Request string `json:"requestId"`
		}{p.Request})})
		return false
	}
	return true
}

type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Read by every origin, those without a name included.
var answerHeaders = []header{{"Access-Control-Allow-Origin", "*"}, {"Cache-Control", "no-store"}, {"Content-Type", "text/plain; charset=utf-8"}}

// endRequest is said on the browser's session.
func endRequest(s BridgeSecret, e mail.EndRequest) Command {
	if e.Answer == nil {
		return Command{Root: true, Tag: Tag{Kind: TagNone}, Method: "Fetch.failRequest", Params: mustJSON(struct {
			Request string `json:"requestId"`
			Reason  string `json:"errorReason"`
		}{e.Request, "Aborted"})}
	}
	return Command{
		Root: true, Tag: Tag{Kind: TagBridgeRequest, Session: e.Session, ID: e.Dialog}, Timeout: AnswerBudget,
		Method: "Fetch.fulfillRequest", Params: mustJSON(struct {
			Request string   `json:"requestId"`
			Code    int      `json:"responseCode"`
			Headers []header `json:"responseHeaders"`
			Body    string   `json:"body"`
		}{e.Request, 200, answerHeaders, base64.StdEncoding.EncodeToString(append([]byte(s.Proof()), e.Answer...))}),
	}
}

// decodeRequest reads Fetch.requestPaused of the browser's session.
func (s BridgeSecret) decodeRequest(role messages.Role, gen mail.Generation, params []byte) any {
	var e struct {
		ID      string `json:"requestId"`
		Frame   string `json:"frameId"`
		Request struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	if s.digits == nil || json.Unmarshal(params, &e) != nil || e.ID == "" || len(e.ID) > MaxID {
		return nil
	}
	r := mail.RequestHeld{Role: role, Gen: gen, Request: e.ID, Frame: messages.FrameID(clip(e.Frame, MaxID))}
	r.Label, r.Key = s.readAddress(e.Request.URL)
	return requestPaused{r}
}

// readAddress reads the label and the name of a call, or nothing.
func (s BridgeSecret) readAddress(url string) (label, key string) {
	rest, ok := strings.CutPrefix(url, "https://"+s.Host()+"/")
	if !ok {
		_, rest, _ = strings.Cut(url, "://")
		_, rest, _ = strings.Cut(rest, "/") // the host
		if rest, ok = strings.CutPrefix(rest, s.Path()+"/"); !ok {
			return "", ""
		}
	}
	label, key, ok = strings.Cut(rest, ".")
	if !ok || label == "" || key == "" || len(label) > 64 || len(key) > 64 || strings.ContainsAny(rest, "/?#") {
		return "", ""
	}
	return strings.Clone(label), strings.Clone(key)
}
