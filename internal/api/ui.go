package api

import (
	"net/http"
	"time"

	"holdfast/internal/ui"
)

// uiRoutes are the files of the live page, each a route of its own: what is not
// in the table is not served. They are open, since they tell nothing.
func uiRoutes() []route {
	to := func(status int) func(*Handler, http.ResponseWriter, *call) error {
		return func(_ *Handler, w http.ResponseWriter, _ *call) error {
			w.Header().Set("Location", ui.Root)
			w.WriteHeader(status)
			return nil
		}
	}
	out := []route{
		{method: "GET", path: "/ui", access: open, class: "read", isAsset: true, serve: to(http.StatusPermanentRedirect)},
		{method: "GET", path: "/{$}", access: open, class: "read", isAsset: true, serve: to(http.StatusTemporaryRedirect)},
	}
	for _, a := range ui.Assets() {
		path := a.Path
		if path == ui.Root {
			path += "{$}" // itself, not all that is below
		}
		out = append(out, route{
			method: "GET", path: path, access: open, class: "read", isAsset: a.Path != ui.Root,
			about: about{
				summary: "The live page",
				text:    "Its files are below this path. They need no token: the page shows nothing before it has one. The key `ui` of the configuration leaves the page out.",
				answers: []answer{{status: http.StatusOK, about: "the page", kind: "text/html"}},
			},
			serve: func(h *Handler, w http.ResponseWriter, c *call) error {
				_ = c.ctl.SetWriteDeadline(time.Now().Add(h.cfg.WriteTimeout))
				a.Serve(w, c.Request)
				return nil
			},
		})
	}
	return out
}
