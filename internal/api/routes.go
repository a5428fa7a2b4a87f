package api

import "net/http"

// access says who may call a route.
type access uint8

const (
	// byTask needs a token whose scope covers the task in the path. It is the zero value: a
	// route without a declared access is closed.
	byTask access = iota
	// byToken needs any token; the handler shows what its scope covers.
	byToken
	// open needs no token.
	open
)

// route is one line of the contract's table.
type route struct {
	method, path string
	access       access
	// class is the kind of route in metrics: read, life, dialog, drive, events,
	// health or other.
	class string
	// query lists the parameters it takes; any other is refused, since a
	// misspelt one would silently change the answer.
	query []string
	// noRenew keeps a request from renewing the lease of the task it names.
	noRenew bool
	// queryToken takes ?access_token= where there is no Authorization header:
	// an EventSource in a page cannot set one.
	queryToken bool
	// stream marks an answer that lasts as long as its task: a drain does not wait for its
	// end.
	stream bool
	serve  func(*Handler, http.ResponseWriter, *call) error
}

// The contract's routes.
var routes = []route{
	{method: "GET", path: "/livez", access: open, class: "health", serve: (*Handler).livez},
	{method: "GET", path: "/readyz", access: open, class: "health", serve: (*Handler).readyz},

	{method: "GET", path: "/v1/pressure", access: byToken, class: "read", serve: (*Handler).pressure},
	{method: "POST", path: "/v1/drain", access: byToken, class: "life", serve: (*Handler).drain},

	{method: "POST", path: "/v1/codes", access: byToken, class: "life", serve: (*Handler).newCode},
	{method: "POST", path: "/v1/session", access: open, class: "life", serve: (*Handler).newSession},

	{method: "GET", path: "/v1/tasks", access: byToken, class: "read", query: []string{"label"}, serve: (*Handler).listTasks},
	{method: "POST", path: "/v1/tasks", access: byToken, class: "life", serve: (*Handler).newTask},
	{method: "GET", path: "/v1/tree", access: byToken, class: "read", query: []string{"task_id", "depth"}, serve: (*Handler).tree},
	{method: "GET", path: "/v1/live", access: byToken, class: "events", query: []string{"task_id"}, stream: true, serve: (*Handler).live},
	{method: "PUT", path: "/v1/tasks/{id}", class: "life", serve: (*Handler).putTask},
	{method: "GET", path: "/v1/tasks/{id}", class: "read", serve: (*Handler).getTask},
	{method: "DELETE", path: "/v1/tasks/{id}", class: "life", noRenew: true, serve: (*Handler).deleteTask},
	{method: "POST", path: "/v1/tasks/{id}/renew", class: "life", noRenew: true, serve: (*Handler).renewTask},
	{method: "POST", path: "/v1/tasks/{id}/restart", class: "life", serve: (*Handler).restartTask},

	{method: "GET", path: "/v1/tasks/{id}/snapshot", class: "read", query: []string{"target_id", "full"}, serve: (*Handler).snapshot},
	{method: "GET", path: "/v1/tasks/{id}/events", class: "events", queryToken: true, stream: true, serve: (*Handler).events},

	{method: "POST", path: "/v1/tasks/{id}/dialog", class: "dialog", serve: (*Handler).dialog},
	{method: "POST", path: "/v1/tasks/{id}/navigate", class: "drive", serve: (*Handler).navigate},
	{method: "POST", path: "/v1/tasks/{id}/cdp", class: "drive", serve: (*Handler).cdp},
	{method: "POST", path: "/v1/tasks/{id}/recover", class: "drive", serve: (*Handler).recover},
	{method: "POST", path: "/v1/tasks/{id}/chaos", class: "drive", serve: (*Handler).chaos},
}

// metricsRoute is added where the node serves its metrics on the same address.
var metricsRoute = route{method: "GET", path: "/metrics", access: open, class: "health", serve: (*Handler).metrics}

// pattern is the route as ServeMux writes it.
func (rt *route) pattern() string { return rt.method + " " + rt.path }

// unknown stands for whatever is no route: it needs a token before it is told
// so.
var unknown = route{access: byToken, class: "other"}
