package desk

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"holdfast/messages"
	"holdfast/messages/wire"
)

// maxRequestID bounds the id that a reply repeats, in bytes.
const maxRequestID = 128

// request is what a program asks for, whatever it is written in. As JSON it is this very form.
type request struct {
	Ask       string            `json:"ask"`
	RequestID string            `json:"request_id"`
	TaskID    string            `json:"task_id"`
	TargetID  string            `json:"target_id"` // of snapshot
	Full      bool              `json:"full"`      // likewise
	Labels    map[string]string `json:"labels"`    // of list
	After     *uint64           `json:"after"`     // of watch
	Body      json.RawMessage   `json:"body"`

	isJSON bool // and so is its answer
}

const (
	askWatch   = "watch"
	askUnwatch = "unwatch"
	askList    = "list"
)

// routes are the methods and the ends of the paths of what is asked for.
var routes = map[string]struct{ method, path string }{
	"start": {http.MethodPut, ""}, "stop": {http.MethodDelete, ""}, "get": {http.MethodGet, ""}, askList: {http.MethodGet, ""},
	"snapshot": {http.MethodGet, "/snapshot"}, "answer": {http.MethodPost, "/dialog"}, "navigate": {http.MethodPost, "/navigate"},
	"cdp": {http.MethodPost, "/cdp"}, "recover": {http.MethodPost, "/recover"}, askWatch: {http.MethodGet, "/events"},
}

// parse returns what a message asks for. The error of a request that can be answered comes with
// its id.
//
// Codes: invalid_argument.
func parse(msg any) (request, error) {
	q, err := read(msg)
	if len(q.RequestID) > maxRequestID {
		q.RequestID = ""
		return q, messages.Errorf(messages.CodeInvalidArgument, "request_id is longer than %d bytes", maxRequestID)
	}
	if err != nil || q.Ask == askUnwatch {
		return q, err
	}
	if _, ok := routes[q.Ask]; !ok {
		return q, messages.Errorf(messages.CodeInvalidArgument, "ask is none of start, stop, get, list, snapshot, answer, navigate, cdp, recover, watch and unwatch")
	}
	if q.Ask != askList {
		if _, err := messages.ParseTaskID(q.TaskID); err != nil {
			return q, err
		}
	}
	return q, nil
}

// read turns a message into a request.
func read(msg any) (q request, err error) {
	var body any
	switch m := msg.(type) {
	case *wrapperspb.BytesValue:
		q.isJSON = true
		d := json.NewDecoder(bytes.NewReader(m.GetValue()))
		d.DisallowUnknownFields()
		if d.Decode(&q) != nil || d.More() {
			return q, messages.Errorf(messages.CodeInvalidArgument, "the bytes are no JSON object with ask, request_id and what belongs to them")
		}
		return q, nil
	case *wire.Start:
		q = request{Ask: "start", RequestID: m.GetRequestId(), TaskID: m.GetTaskId(), Body: m.GetJson()}
	case *wire.Stop:
		q = request{Ask: "stop", RequestID: m.GetRequestId(), TaskID: m.GetTaskId()}
	case *wire.Get:
		q = request{Ask: "get", RequestID: m.GetRequestId(), TaskID: m.GetTaskId()}
	case *wire.List:
		q = request{Ask: askList, RequestID: m.GetRequestId(), Labels: m.GetLabels()}
	case *wire.Snapshot:
		q = request{Ask: "snapshot", RequestID: m.GetRequestId(), TaskID: m.GetTaskId(), TargetID: m.GetTargetId(), Full: m.GetFull()}
	case *wire.Answer:
		q = request{Ask: "answer", RequestID: m.GetRequestId(), TaskID: m.GetTaskId()}
		body = messages.DialogAnswer{
			Action: messages.Action(m.GetAction()), PromptText: m.PromptText, DialogID: messages.DialogID(m.GetDialogId()),
			By: messages.Answerer(m.GetBy()), WaitS: m.WaitS,
		}
	case *wire.Navigate:
		q = request{Ask: "navigate", RequestID: m.GetRequestId(), TaskID: m.GetTaskId()}
		body = messages.NavigateRequest{
			URL: m.GetUrl(), TargetID: messages.TargetID(m.GetTargetId()), WaitUntil: messages.WaitUntil(m.GetWaitUntil()),
			TimeoutS: m.GetTimeoutS(), WaitS: m.WaitS,
		}
	case *wire.CDP:
		q = request{Ask: "cdp", RequestID: m.GetRequestId(), TaskID: m.GetTaskId()}
		body = messages.CDPRequest{
			Method: m.GetMethod(), Params: m.GetParams(), TargetID: messages.TargetID(m.GetTargetId()), FrameID: messages.FrameID(m.GetFrameId()),
			TimeoutS: m.GetTimeoutS(), WaitS: m.WaitS,
		}
	case *wire.Recover:
		q = request{Ask: "recover", RequestID: m.GetRequestId(), TaskID: m.GetTaskId()}
		body = messages.RecoverRequest{Action: messages.RecoverAction(m.GetAction()), TargetID: messages.TargetID(m.GetTargetId()), WaitS: m.WaitS}
	case *wire.Watch:
		q = request{Ask: askWatch, RequestID: m.GetRequestId(), TaskID: m.GetTaskId(), After: m.After}
	case *wire.Unwatch:
		q = request{Ask: askUnwatch, RequestID: m.GetRequestId()}
	default:
		return q, messages.Errorf(messages.CodeInvalidArgument, "no such message is taken here")
	}
	if body != nil {
		if q.Body, err = json.Marshal(body); err != nil {
			return q, messages.Errorf(messages.CodeInvalidArgument, "the fields are not those of a request")
		}
	}
	return q, nil
}

// http is the request as the node's HTTP interface takes it.
func (q request) http() (*http.Request, error) {
	route := routes[q.Ask]
	u := url.URL{Scheme: "http", Host: "localhost", Path: "/v1/tasks"}
	query := url.Values{}
	if q.Ask == askList {
		for k, v := range q.Labels {
			query.Add("label", k+"="+v)
		}
	} else {
		u.Path += "/" + q.TaskID + route.path
	}
	if q.TargetID != "" {
		query.Set("target_id", q.TargetID)
	}
	if q.Full {
		query.Set("full", "true")
	}
	u.RawQuery = query.Encode()
	r, err := http.NewRequest(route.method, u.String(), bytes.NewReader(q.Body))
	if err != nil {
		return nil, err
	}
	if len(q.Body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.Ask == askWatch {
		r.Header.Set("Accept", "text/event-stream")
		if q.After != nil {
			r.Header.Set("Last-Event-ID", strconv.FormatUint(*q.After, 10))
		}
	}
	return r, nil
}
