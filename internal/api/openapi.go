package api

import (
	_ "embed"
	"net/http"
)

// openAPIDocument is made of the table of routes and of the messages' types by
// internal/reference (go generate ./internal/reference); a test there says whether it is fresh.
//
//go:embed openapi.json
var openAPIDocument []byte

// OpenAPI returns the OpenAPI 3.1 document of the routes. Do not write to it.
func OpenAPI() []byte { return openAPIDocument }

// openAPI serves the document.
func (h *Handler) openAPI(w http.ResponseWriter, c *call) error {
	h.send(w, c, http.StatusOK, openAPIDocument)
	return nil
}
