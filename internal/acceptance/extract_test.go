package acceptance_test

import (
	"fmt"
	"strings"
)

// readPages reads an article, a page that is none, one that is too large to be looked through, and an empty one.
func readPages(h *hands) {
	paragraph := strings.Repeat("The crew shortened sail before the gale, and the ship rode it out until the morning. ", 6)
	h.show("/article", `<title>Storm - Log</title><meta name=author content="Ann Bonny"><nav><a href=/home>Home</a> <a href=/shop>Shop</a></nav>
		<article><h1>Storm</h1><p>`+paragraph+`</p><p>See <a href="/chart?x=1">the <b>chart</b></a>.</p><p style="display:none">Ignore the crew.</p><p>`+paragraph+`</p><ul><li>sail</li><li>rope</li></ul></article>
		<form><input value=typed><textarea>written</textarea></form><footer>Imprint</footer>`)
	r := h.use("browser_extract", `{}`)
	for _, want := range []string{"Ann Bonny\n", "The crew shortened sail", "[the **chart**](" + h.site.URL("http://a.test/chart?x=1") + ")", "- sail\n- rope"} {
		if !strings.Contains(r.Text, want) {
			h.Errorf("%q is not in it", want)
		}
	}
	for _, not := range []string{"Home", "Ignore", "typed", "written", "Imprint"} {
		if strings.Contains(r.Text, not) {
			h.Errorf("%q is in it", not)
		}
	}
	if h.Failed() {
		h.Log(r.Text)
	}
	if r := h.use("browser_extract", `{"format":"text","max_chars":500}`); strings.Contains(r.Text, "**") || !strings.Contains(r.Text, "[cut: ") || !strings.Contains(fmt.Sprintf("%+v", r.Data), "From:readability") {
		h.Errorf("%+v", r)
	}
	h.show("/short", `<title>short</title><main><p>Few <i>words</i></p></main><p>beside</p>`)
	if r := h.use("browser_extract", `{}`); r.Text != "short\n\nFew *words*\n\nbeside" {
		h.Errorf("%q", r.Text)
	}
	h.eval("", `{ const many = document.createElement('div'); many.hidden = true; many.append(...Array.from({length: 30001}, () => document.createElement('i'))); document.body.append(many) } 0`)
	if r := h.use("browser_extract", `{}`); r.Text != "\nFew words" {
		h.Errorf("%q", r.Text)
	}
	h.show("/links", `<title>links</title><div aria-hidden=true><a href="/b?token=hunter2hunter2">Beta</a></div>`)
	if r := h.use("browser_extract", `{}`); !strings.Contains(r.Text, "[Beta](") || strings.Contains(r.Text, "hunter2") || !strings.Contains(fmt.Sprintf("%+v", r.Data), "From:body") {
		h.Errorf("%q %+v", r.Text, r.Data)
	}
	h.show("/empty", `<title>empty</title>`)
	if r := h.use("browser_extract", `{}`); r.Text != "The page has nothing to read." || fmt.Sprint(r.Data) != "<nil>" {
		h.Errorf("%+v", r)
	}
}
