package bridge

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"holdfast/actors/session/clip"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Requests is the browser's half of [byRequest], on either link: one Fetch.enable
// for all of its pages, their frames, and those to come (C40). Nothing but the
// bridge's own addresses is held.
type Requests struct {
	secret   Secret
	do       func(effect.Effect)
	isLinked bool
	isOn     bool
	asked    int // the browser, and it has not answered; counted down on the primary link
}

// NewRequests returns the half of a link that is being dialled.
func NewRequests(secret Secret, do func(effect.Effect)) Requests {
	return Requests{secret: secret, do: do}
}

// IsOn says that the browser was asked, and not told otherwise since.
func (r *Requests) IsOn() bool { return r.isOn }

// Begin is for a link that stands.
func (r *Requests) Begin(b Settings) {
	r.isLinked = true
	r.Hear(b)
}

// Hear turns it on or off.
func (r *Requests) Hear(b Settings) {
	on := b.IsOn && b.By == mail.ByRequest
	switch {
	case !r.isLinked:
		return
	case on && !r.isOn:
		r.asked++
		r.do(effect.OnBrowser(effect.Tag{Kind: TagRequests}, "Fetch.enable", fetchPatterns{[]requestPattern{
			{"https://" + r.secret.Host() + "/*", "XHR"}, {"*://*/" + r.secret.Path() + "/*", "XHR"},
		}}, effect.AttachBudget))
	case !on && r.isOn:
		r.do(effect.Command{IsOnRoot: true, Tag: effect.Tag{Kind: effect.TagNone}, Method: "Fetch.disable"})
	}
	r.isOn = on
}

// IsConfirmed says that it is on, by the browser's word.
func (r *Requests) IsConfirmed() bool { return r.isOn && r.asked == 0 }

// Answered is the browser's word. After a no it may be asked again.
func (r *Requests) Answered(err error) {
	if r.asked--; r.asked == 0 && err != nil {
		r.isOn = false
	}
}

// RequestPaused is a request that the browser holds for us. One without a label belongs to
// no bridge.
type RequestPaused struct{ mail.RequestHeld }

// AcceptRequest continues what only looks like a request of the bridge.
func (r *Requests) AcceptRequest(p RequestPaused) bool {
	if p.Label == "" || !r.isOn {
		r.do(effect.Command{IsOnRoot: true, Tag: effect.Tag{Kind: effect.TagNone}, Method: "Fetch.continueRequest", Params: effect.Params(struct {
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

// EndRequest is said on the browser's session.
func EndRequest(s Secret, e mail.EndRequest) effect.Command {
	if e.Answer == nil {
		return effect.Command{IsOnRoot: true, Tag: effect.Tag{Kind: effect.TagNone}, Method: "Fetch.failRequest", Params: effect.Params(struct {
			Request string `json:"requestId"`
			Reason  string `json:"errorReason"`
		}{e.Request, "Aborted"})}
	}
	return effect.Command{
		IsOnRoot: true, Tag: effect.Tag{Kind: TagRequest, Session: e.Session, ID: e.Dialog}, Timeout: effect.AnswerBudget,
		Method: "Fetch.fulfillRequest", Params: effect.Params(struct {
			Request string   `json:"requestId"`
			Code    int      `json:"responseCode"`
			Headers []header `json:"responseHeaders"`
			Body    string   `json:"body"`
		}{e.Request, 200, answerHeaders, base64.StdEncoding.EncodeToString(append([]byte(s.Proof()), e.Answer...))}),
	}
}

// DecodeRequest reads Fetch.requestPaused of the browser's session.
func (s Secret) DecodeRequest(role messages.Role, gen mail.Generation, params []byte) any {
	var e struct {
		ID      string `json:"requestId"`
		Frame   string `json:"frameId"`
		Request struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	if s.digits == nil || json.Unmarshal(params, &e) != nil || e.ID == "" || len(e.ID) > clip.MaxID {
		return nil
	}
	r := mail.RequestHeld{Role: role, Gen: gen, Request: e.ID, Frame: messages.FrameID(clip.Text(e.Frame, clip.MaxID))}
	r.Label, r.Key = s.readAddress(e.Request.URL)
	return RequestPaused{r}
}

// readAddress reads the label and the name of a call, or nothing.
func (s Secret) readAddress(url string) (label, key string) {
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
