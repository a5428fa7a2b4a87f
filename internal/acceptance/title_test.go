package acceptance_test

import (
	"testing"

	"holdfast/messages"
)

// Chrome does not tell when a document sets its title (C66): what a script sets after the
// load, or after a change of the URL alone, is in the snapshot all the same.
func TestPage_ATitleThatIsSetAfterTheLoadIsSeen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ page, then string }{
		"after the load": {`<title>first</title><script>onload = () => setTimeout(() => document.title = 'second', 300)</script>`, ""},
		"after the URL":  {`<title>first</title>`, "setTimeout(() => { history.pushState(0, '', '/next'); setTimeout(() => document.title = 'second', 300) }); 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("title")
			k.site.Set("/titled", c.page)
			w := k.watch()
			k.goTo("http://a.test/titled")
			if c.then != "" {
				k.eval("", c.then)
			}
			for {
				e := w.next(messages.EventPageChanged)
				if e.Page.Title == "second" {
					if e.Changed != messages.PageTitleChanged {
						t.Errorf("changed %v", e.Changed)
					}
					break
				}
			}
			if s := k.snapshot(); s.Pages[0].Title != "second" {
				t.Errorf("page %+v", s.Pages[0])
			}
		})
	}
}
