package ui_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/api/apitest"
	"holdfast/internal/ui"
)

func TestAssets(t *testing.T) {
	t.Parallel()
	s := serve(t, &apitest.Node{})
	if n := ui.Size(); n > 100<<10 {
		t.Errorf("the page is %d bytes in all", n)
	}
	index := ""
	for i, a := range ui.Assets() {
		res := get(t, s.url+a.Path, nil)
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 200 {
			t.Fatal(a.Path, res.StatusCode, err)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": ui.Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "public, max-age=31536000, immutable",
		} {
			if i == 0 && name == "Cache-Control" {
				want = "no-cache"
			}
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s: %q", a.Path, name, got)
			}
		}
		if i == 0 {
			index = string(body)
		} else if !strings.HasSuffix(a.Path, ".svg") && strings.Contains(string(body), "innerHTML =") {
			t.Errorf("%s sets innerHTML", a.Path)
		}
		etag := res.Header.Get("ETag")
		if res := get(t, s.url+a.Path, http.Header{"If-None-Match": {etag}}); res.StatusCode != http.StatusNotModified || etag == "" {
			t.Errorf("%s with its own ETag %s: %d", a.Path, etag, res.StatusCode)
		}
		for _, remote := range regexp.MustCompile(`(?:https?:)?//[a-z][a-z0-9.-]+`).FindAllString(string(body), -1) {
			if remote != "http://www.w3.org" { // an SVG's name, which is never loaded
				t.Errorf("%s speaks of %s", a.Path, remote)
			}
		}
	}
	for _, ref := range regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllStringSubmatch(index, -1) {
		if res := get(t, s.url+ref[1], nil); res.StatusCode != 200 {
			t.Errorf("the index refers to %s: %d", ref[1], res.StatusCode)
		}
	}
	for _, inline := range []string{"<style", "style=", "onclick", "{{"} {
		if strings.Contains(index, inline) {
			t.Errorf("the index holds %s", inline)
		}
	}
	if res := get(t, s.url+"/ui", nil); res.StatusCode != http.StatusPermanentRedirect || res.Header.Get("Location") != "/ui/" {
		t.Error(res.StatusCode, res.Header)
	}
	for _, path := range []string{"/ui/nothing", "/ui/../v1/tasks", "/ui/index.html", "/ui/assets/app.js"} {
		if res := get(t, s.url+path, nil); res.StatusCode != http.StatusUnauthorized {
			t.Error(path, res.StatusCode)
		}
	}
}
