package tools

import (
	"encoding/json"
	"net/url"
	"testing"

	"holdfast/messages"
)

// FuzzReadState: what is taken holds addresses of origins alone, and nothing panics.
func FuzzReadState(f *testing.F) {
	f.Add([]byte(`{"cookies":[{"name":"a"}],"origins":[{"origin":"https://a.test:8443","localStorage":[{"name":"k","value":"v"}]}]}`))
	f.Add([]byte(`{"origins":[{"origin":"https://a.test/"}]}`))
	f.Add([]byte(`{"origins":[{"origin":"javascript:alert(1)"}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		state, err := readState(raw)
		if err != nil {
			if messages.CodeOf(err) != messages.CodeInvalidArgument {
				t.Errorf("%v", err)
			}
			return
		}
		if b, err := json.Marshal(state.Cookies); err != nil || b[0] != '[' {
			t.Errorf("%s %v", b, err)
		}
		for _, o := range state.Origins {
			u, err := url.Parse(o.Origin)
			if err != nil || u.User != nil || u.Path != "" || u.Scheme != "http" && u.Scheme != "https" {
				t.Errorf("%q is taken for an origin", o.Origin)
			}
		}
	})
}
