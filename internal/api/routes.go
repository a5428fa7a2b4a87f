package api

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"holdfast/internal/gate"
	"holdfast/messages"
)

// access says which token a route needs.
type access uint8

const (
	// byTask needs a token whose scope covers the task in the path. It is the
	// zero value: a route whose entry says nothing is closed.
	byTask access = iota
	// byToken needs any token; the handler shows what its scope covers.
	byToken
	// open needs no token.
	open
)

// route is one line of the contract's table. The mux and the reference are both built from
// it, so no route is without its description.
type route struct {
	method, path string
	access       access
	// class is the kind of route in metrics: read, life, dialog, drive, events,
	// health or other.
	class string
	// query lists the parameters it takes; any other is refused, since a
	// misspelt one would silently change the answer.
	query []param
	// doesNotRenew keeps a request from renewing the lease of the task it names.
	doesNotRenew bool
	// allowsQueryToken takes ?access_token= where there is no Authorization header:
	// an EventSource in a page cannot set one.
	allowsQueryToken bool
	// isCDP marks the endpoint of CDP clients: it takes any query, since clients bring their
	// own, and a token or a ticket in it, since most can send no header.
	isCDP bool
	// isStream marks an answer that lasts as long as its task: its end is not
	// waited for.
	isStream bool
	// isAsset marks a file of the live page: the reference shows the page alone.
	isAsset bool
	serve   func(*Handler, http.ResponseWriter, *call) error
	about   about
}

// param is one parameter of a route's query, or one header.
type param struct {
	name      string
	kind      string // of JSON Schema: string, boolean, integer
	about     string
	canRepeat bool // it may be given more than once
}

// about is what the reference says of a route.
type about struct {
	summary string // what it does, in a few words
	text    string // the rest, in Markdown
	headers []param
	body    any // a zero value of the body's type; nil without a body
	// isBodyOptional says that the body may be left out.
	isBodyOptional bool
	answers        []answer
	events         []streamed // of a stream
	codes          []messages.Code
}

// answer is one answer that is no error.
type answer struct {
	status int
	about  string
	body   any    // a zero value of the body's type; nil without a body
	kind   string // Content-Type of a body that is not JSON
}

// streamed is one kind of event of a stream.
type streamed struct {
	name, about string
	body        any // a zero value of the type of its data
}

// pattern is the route as ServeMux writes it.
func (rt *route) pattern() string { return rt.method + " " + rt.path }

// tokenParam is the query parameter that carries a token where a route takes one.
const tokenParam = "access_token"

// gatewayTokenParam is the same for CDP clients.
const gatewayTokenParam = "token"

// entrance is what the gate has to know of the route.
func (rt *route) entrance() gate.Route {
	e := gate.Route{Class: rt.class, Path: rt.path}
	if rt.allowsQueryToken {
		e.TokenParam = tokenParam
	}
	if rt.isCDP {
		e.TokenParam, e.IsAdminInURL, e.HasTickets = gatewayTokenParam, true, true
	}
	return e
}

// takesParameter says whether the route has the query parameter.
func (rt *route) takesParameter(name string) bool {
	return slices.ContainsFunc(rt.query, func(p param) bool { return p.name == name })
}

// queryNames are the names of the route's query parameters.
func (rt *route) queryNames() []string {
	names := make([]string, len(rt.query))
	for i, p := range rt.query {
		names[i] = p.name
	}
	return names
}

// codes are all codes that the route may answer with: its own, and those of the gate.
func (rt *route) codes() []messages.Code {
	may := map[messages.Code]bool{messages.CodeInvalidArgument: true, messages.CodeForbidden: true, messages.CodeInternal: true}
	if rt.access != open {
		may[messages.CodeUnauthorized] = true
	}
	if rt.about.body != nil {
		may[messages.CodeMessageTooLarge], may[messages.CodeLimitReached] = true, true
	}
	if rt.access == byTask {
		may[messages.CodeRehoming] = true
		if rt.method != "GET" || rt.isCDP {
			may[messages.CodeLeaseLapsed], may[messages.CodeNoQuorum] = true, true
		}
	}
	for _, c := range rt.about.codes {
		may[c] = true
	}
	return slices.DeleteFunc(messages.Codes(), func(c messages.Code) bool { return !may[c] })
}

// unknown stands for every path that is no route: it needs a token before it is told
// so.
var unknown = route{access: byToken, class: "other"}

// Route describes one route to the reference and to tests. Types are nil where there is
// no body.
type Route struct {
	Method, Path string // Path is ServeMux's, with {id} for the task
	Summary      string // what it does, in a few words
	Text         string // the rest, in Markdown
	Access       string // open, token or task
	TakesToken   bool   // also as ?access_token=
	Query        []Param
	Headers      []Param
	Body         reflect.Type
	IsOptional   bool // the body may be left out
	Answers      []Answer
	Events       []StreamEvent
	Codes        []messages.Code // all, those of the gate and of the body included
	OwnCodes     []messages.Code // those of what the route does
}

// Param is one query parameter or header of a [Route].
type Param struct {
	Name, Kind, About string
	IsMany            bool // it may be given more than once
}

// Answer is one answer of a [Route] that is no error.
type Answer struct {
	Status      int
	About       string
	Body        reflect.Type
	ContentType string // application/json where there is a Body
}

// StreamEvent is one kind of event of a [Route] that streams.
type StreamEvent struct {
	Name, About string
	Body        reflect.Type
}

// Routes describes every route that a node can serve, in the order of the table. Files of
// the live page are left out.
func Routes() []Route {
	var out []Route
	for _, rt := range slices.Concat(routes, uiRoutes(), []route{metricsRoute}) {
		if rt.isAsset {
			continue
		}
		a := rt.about
		r := Route{
			Method: rt.method, Path: strings.TrimSuffix(rt.path, "{$}"), Summary: a.summary, Text: a.text,
			Access: [...]string{byTask: "task", byToken: "token", open: "open"}[rt.access], TakesToken: rt.allowsQueryToken,
			Query: params(rt.query), Headers: params(a.headers), Body: reflect.TypeOf(a.body), IsOptional: a.isBodyOptional, Codes: rt.codes(), OwnCodes: a.codes,
		}
		for _, x := range a.answers {
			if x.kind == "" && x.body != nil {
				x.kind = "application/json"
			}
			r.Answers = append(r.Answers, Answer{x.status, x.about, reflect.TypeOf(x.body), x.kind})
		}
		for _, x := range a.events {
			r.Events = append(r.Events, StreamEvent{x.name, x.about, reflect.TypeOf(x.body)})
		}
		out = append(out, r)
	}
	return out
}

func params(list []param) []Param {
	out := make([]Param, len(list))
	for i, p := range list {
		out[i] = Param{p.name, p.kind, p.about, p.canRepeat}
	}
	return out
}
