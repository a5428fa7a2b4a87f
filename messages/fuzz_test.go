package messages_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"holdfast/messages"
)

func FuzzParseTaskID(f *testing.F) {
	f.Add("checkout-7")
	f.Add("..")
	f.Add("a/b")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := messages.ParseTaskID(s)
		switch {
		case err != nil && messages.CodeOf(err) != messages.CodeInvalidArgument:
			t.Errorf("%q: %v", s, err)
		case err == nil && (string(id) != s || len(s) > messages.MaxTaskIDLength || strings.ContainsAny(s, "/\\ \n\x00%?#") || s == "." || s == ".." || s == ""):
			t.Errorf("%q is a task id", s)
		}
		if messages.CheckOpaqueID("x", s) == nil && strings.ContainsAny(s, "/\\ \n\x00\"<>") {
			t.Errorf("%q is an id", s)
		}
	})
}

func FuzzCDPURLNeverShowsItsSecret(f *testing.F) {
	f.Add("ws", "user", "s3cr3t-p4ssw0rd", "/devtools/browser/", "t0k3n-1234567890")
	f.Fuzz(func(t *testing.T, scheme, user, password, path, token string) {
		const plant = "PLANTED0SECRET1234567890"
		u := url.URL{
			Scheme: scheme, User: url.UserPassword(user, password+plant), Host: "h.test:1",
			Path: "/" + path + "/" + plant + token, RawQuery: "k=" + plant, Fragment: plant,
		}
		parsed, err := messages.ParseCDPURL(u.String())
		if err != nil {
			if strings.Contains(err.Error(), plant) {
				t.Errorf("the error shows it: %v", err)
			}
			return
		}
		spec := messages.TaskSpec{CDPURL: parsed}
		text, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, shown := range []string{
			parsed.String(), fmt.Sprint(parsed), fmt.Sprintf("%+v %#v %v %s %q", spec, spec, &spec, parsed, parsed),
			string(text), parsed.LogValue().String(),
		} {
			if strings.Contains(shown, plant) {
				t.Errorf("shown as %s", shown)
			}
		}
	})
}

func FuzzTaskSpec(f *testing.F) {
	f.Add([]byte(`{"cdp_url":"ws://127.0.0.1:9222/","scope":"own","dialog_policy":"auto_accept","dialog_timeout_s":2.5,"labels":{"a":"b"}}`))
	f.Add([]byte(`{"on_wedge":"close","on_wedge_after_s":5}`))
	f.Add([]byte(`{"isolation":"context","scope":"browser"}`))
	f.Add([]byte(`{"launch":true,"idle_timeout_s":60,"queue_timeout_s":0}`))
	f.Add([]byte(`{"launch":{"headless":false},"give_up_after_s":5}`))
	f.Add([]byte(`{"give_up_after_s":4.999}`))
	f.Add([]byte(`{"SCOPE":"own"}`))
	f.Add([]byte(`{"scope":"own","\u0073cope":"browser"}`))
	f.Add([]byte(`{"cdp_url":""}`))
	f.Add([]byte(`[{"scope":5}]`))
	f.Add([]byte(`{"give_up_after_s":86400.001,"cdp_url":"ws://h/"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var s messages.TaskSpec
		if err := messages.DecodeStrict(strings.NewReader(string(body)), &s); err != nil {
			if messages.CodeOf(err) != messages.CodeInvalidArgument {
				t.Errorf("%v", err)
			}
			return
		}
		if s.Validate() != nil {
			return
		}
		full := s.WithDefaults()
		if err := full.Validate(); err != nil {
			t.Errorf("%s: valid, but not with its defaults: %v", body, err)
		}
		if !full.IsSameBrowser(full.Merge(s)) {
			t.Errorf("%s: asking for the same again is a rebind", body)
		}
	})
}
