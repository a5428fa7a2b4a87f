package stage

import "net/http"

// NewFakes is the handler of [ServeFakes] and makes what m says; addr is where it
// will be served.
func NewFakes(addr string, m Making) (http.Handler, []Place) {
	o := &orders{addr: addr, byPath: map[string]*world{}}
	return o, o.make(m)
}
