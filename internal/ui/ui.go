package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
)

//go:embed assets
var embedded embed.FS

// Policy is the Content-Security-Policy of the page.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Root is where the page is.
const Root = "/ui/"

// Asset is one file of the page. It is immutable.
type Asset struct {
	// Path is where it is served.
	Path        string
	contentType string
	cache       string
	etag        string
	body        []byte
}

// contentTypes are those of the files there are; another is a mistake.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// Assets returns the files of the page, the index first.
func Assets() []Asset { return assets }

var assets = load()

// load panics where the build itself is wrong.
func load() []Asset {
	dir, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err)
	}
	names, err := fs.Glob(dir, "*")
	if err != nil {
		panic(err)
	}
	bodies := make(map[string][]byte, len(names))
	all := sha256.New()
	for _, name := range names {
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			panic(err)
		}
		bodies[name] = b
		fmt.Fprintf(all, "%s %d\n%s", name, len(b), b)
	}
	// One hash for all: modules name each other relatively, and each version of
	// them is a folder of its own.
	hash := hex.EncodeToString(all.Sum(nil))[:16]
	index := bytes.ReplaceAll(bodies["index.html"], []byte("{{version}}"), []byte(hash))
	out := []Asset{{Path: Root, contentType: contentTypes[".html"], cache: "no-cache", etag: `"` + hash + `"`, body: index}}
	for _, name := range names {
		if name == "index.html" {
			continue
		}
		kind, ok := contentTypes[path.Ext(name)]
		if !ok {
			panic("ui: " + name + " is of no known type")
		}
		out = append(out, Asset{
			Path: Root + hash + "/" + name, contentType: kind, body: bodies[name],
			cache: "public, max-age=31536000, immutable", etag: `"` + hash + "-" + name + `"`,
		})
	}
	return out
}

// Serve answers a GET or a HEAD.
func (a *Asset) Serve(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", Policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("X-Frame-Options", "DENY") // for what knows no frame-ancestors
	head.Set("Cache-Control", a.cache)
	head.Set("ETag", a.etag)
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head.Set("Content-Type", a.contentType)
	head.Set("Content-Length", fmt.Sprint(len(a.body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body) // a reader that has gone is told nothing
	}
}

// Size is how many bytes the page is in all.
func Size() (n int) {
	for _, a := range assets {
		n += len(a.body)
	}
	return n
}
