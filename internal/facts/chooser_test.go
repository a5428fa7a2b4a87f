package facts_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
)

// identityProvider is a site with an account, at an address that the browser takes for secure.
func identityProvider(t *testing.T) (url string) {
	t.Helper()
	answers := map[string]string{
		"/.well-known/web-identity": `{"provider_urls":["ORIGIN/config.json"]}`,
		"/config.json":              `{"accounts_endpoint":"/accounts","client_metadata_endpoint":"/client","id_assertion_endpoint":"/assert","login_url":"/login"}`,
		"/accounts":                 `{"accounts":[{"id":"1","name":"Ann","email":"ann@a.test"}]}`,
		"/client":                   `{}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Login", "logged-in")
		said, ok := answers[r.URL.Path]
		if !ok {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<title>site</title>")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.ReplaceAll(said, "ORIGIN", "http://"+r.Host))
	}))
	t.Cleanup(s.Close)
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
}

// Rule: without a window no chooser of devices is opened, so there is nothing to answer; that of
// identities is there for who has enabled FedCm, and can be answered.
func TestC71_OfTheBrowsersOwnChoosersThatOfIdentitiesIsThereHeadless(t *testing.T) {
	t.Parallel()
	_, _, c := ownStage(t)
	url := identityProvider(t)
	p := c.NewPage(url + "/")
	c.Must(p.Session, "DeviceAccess.enable", nil)
	c.Must(p.Session, "FedCm.enable", params{"disableRejectionDelay": true})
	end := func(call string) string {
		return string(c.Must(p.Session, "Runtime.evaluate", params{
			"expression": call + ".then(v => 'gave ' + (v.length ?? v), e => e.name)", "awaitPromise": true, "returnByValue": true, "userGesture": true,
		}))
	}
	for call, ends := range map[string]string{
		"navigator.usb.requestDevice({filters: []})": "NotFoundError", "navigator.serial.requestPort()": "NotFoundError", "navigator.hid.requestDevice({filters: []})": "gave 0",
	} {
		if got := end(call); !strings.Contains(got, `"`+ends+`"`) {
			t.Errorf("%s ends with %s", call, got)
		}
	}
	if shown := c.Events(on(p.Session, "DeviceAccess.deviceRequestPrompted")); len(shown) > 0 {
		t.Errorf("a chooser of devices: %v", shown)
	}
	get := "navigator.credentials.get({identity: {providers: [{configURL: '" + url + "/config.json', clientId: '1'}]}})"
	asked := c.Send(p.Session, "Runtime.evaluate", params{"expression": get + ".catch(e => e.name)", "awaitPromise": true, "returnByValue": true, "userGesture": true})
	shown := p.NextWhere("the chooser of identities", on(p.Session, "FedCm.dialogShown"))
	want(t, "its kind", chromiumtest.Field(shown.Params, "dialogType"), "AccountChooser")
	c.Must(p.Session, "FedCm.dismissDialog", params{"dialogId": chromiumtest.Field(shown.Params, "dialogId")})
	got, err := asked.Wait(chromiumtest.Patience)
	if err != nil || !strings.Contains(string(got), "NetworkError") && !strings.Contains(string(got), "AbortError") {
		t.Errorf("the page gets %s %v", got, err)
	}
}
