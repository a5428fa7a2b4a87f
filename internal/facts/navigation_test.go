package facts_test

import (
	"net/http"
	"testing"

	"holdfast/internal/chromiumtest"
)

// Rule: a navigation that another one overtakes has its reply, so that who opens a page at a slow
// address that the page's user leaves does not wait for it.
func TestC67_ANavigationThatIsOvertakenIsReplied(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	asked := make(chan struct{}, 8)
	site.Handle("/never", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	p := c.NewPage("about:blank")
	slow := c.Send(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/never")})
	<-asked
	c.Must(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/plain")})
	result, err := slow.Wait(chromiumtest.Patience)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the reply", chromiumtest.Field(result, "errorText"), "net::ERR_ABORTED")
}
