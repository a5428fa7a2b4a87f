package acceptance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdfast/messages"
)

// TestX28_LargePagesStayWithinTheBudget: a page of 5 MB with 100,000 nodes, and one with 200 iframes,
// are shown within the budget and the call's own deadline, with what can be acted on first.
func TestX28_LargePagesStayWithinTheBudget(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.site.Handle("/x28/nodes", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<!doctype html><title>nodes</title><main>")
		for i := range 50_000 { // an element and a text each
			_, _ = fmt.Fprintf(w, "<p>%05d %s", i, strings.Repeat("word ", 19))
		}
		_, _ = fmt.Fprint(w, "</main><button>Last</button>")
	}))
	r.site.Set("/x28/frames", `<!doctype html><title>frames</title>`+strings.Repeat(`<iframe srcdoc="<p>inside</p><button>Inner</button>" width=50 height=20></iframe>`, 200)+`<button>Last</button>`)
	for path, wants := range map[string][]string{
		"/x28/nodes":  {`button "Last"`, "[cut: "},
		"/x28/frames": {`button "Last"`, `button "Inner"`},
	} {
		h := r.task(messages.TaskID("x28" + strings.ReplaceAll(path, "/", "-"))).hands()
		h.use("browser_navigate", `{"url":"`+h.site.URL("http://a.test"+path)+`","timeout_s":60}`)
		var res *messages.ToolResult
		for begun := time.Now(); ; {
			asked := time.Now()
			res = h.use("browser_snapshot", `{}`)
			if took := time.Since(asked); len(res.Text) > 15_000 || took > patience {
				t.Errorf("%s: %d characters after %v", path, len(res.Text), took)
			}
			// A page that is still being drawn says so, where the machine is slow.
			if !strings.Contains(res.Text, "cannot be read now") || time.Since(begun) > rowTime/2 {
				break
			}
			h.try("browser_evaluate", `{"expression":"document.title","timeout_s":60}`)
		}
		for _, want := range wants {
			if !strings.Contains(res.Text, want) {
				t.Errorf("%s shows no %s:\n%.500s\n…\n%s", path, want, res.Text, res.Text[max(0, len(res.Text)-500):])
			}
		}
	}
}
