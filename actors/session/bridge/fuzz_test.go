package bridge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/clip"
	"holdfast/actors/session/decode"
)

// The parts of a secret, as the bridge's script has them.
const (
	fuzzName  = "0000000000000001"
	fuzzToken = "0000000000000002"
)

var fuzzSecret = bridge.NewSecret(fuzzName + fuzzToken + "0000000000000003")

func units(s string) int { return len(utf16.Encode([]rune(s))) }

func callText(key, kind, url, message, value string) string {
	return fmt.Sprintf("%s%s %s %d %d %s%s%s", fuzzToken, key, kind, units(url), units(message), url, message, value)
}

func pausedIn(text string) []byte {
	params, err := json.Marshal(map[string]any{"callFrames": []any{map[string]any{
		"callFrameId": "1.2.0", "this": map[string]any{"type": "string", "value": text},
	}}})
	if err != nil {
		panic(err)
	}
	return params
}

// checkCall holds what is taken for a call of ours to its bounds.
func checkCall(t *testing.T, c bridge.Call) {
	t.Helper()
	switch c.Kind {
	case "alert", "confirm", "prompt":
	default:
		t.Errorf("a dialog of the kind %q", c.Kind)
	}
	if c.Key == "" || len(c.Key) > 64 || len(c.CallFrame) > 256 {
		t.Errorf("key %q, call frame of %d bytes", c.Key, len(c.CallFrame))
	}
	if len(c.URL) > clip.MaxURL || len(c.Message) > clip.MaxDialogText || len(c.Default) > clip.MaxDialogText {
		t.Errorf("URL of %d bytes, message of %d, default of %d", len(c.URL), len(c.Message), len(c.Default))
	}
}

// Whatever pauses a page, only what begins with the secret is a call of ours.
func FuzzDecodePaused(f *testing.F) {
	for _, text := range []string{
		callText("1.1", "confirm", "http://a.test/", "m", ""), callText("1.1", "beforeunload", "", "", ""),
		fuzzToken, fuzzToken + "1 alert -1 0 ", fuzzToken + "1 alert 9999999999999999999 0 ", " " + callText("1", "alert", "", "", ""),
		callText("1.2", "prompt", "http://a.test/\U0001f600", "\u20ac", "\ufffd"),
	} {
		f.Add(pausedIn(text))
	}
	f.Add([]byte(`{"callFrames":[],"x":"` + fuzzToken + `"}`))
	f.Add([]byte(`{"callFrames":[{"callFrameId":"1.2.0","this":{"value":1}},{"this":{"value":"` + callText("1", "alert", "", "", "") + `"}}]}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		c, ours := bridge.DecodePaused(fuzzSecret, params)
		if !ours {
			return
		}
		checkCall(t, c)
		if _, without := bridge.DecodePaused(bridge.Secret{}, params); without {
			t.Error("a task without a bridge takes a call")
		}
		other := bridge.NewSecret(strings.Repeat("f", 2*bridge.SecretBytes))
		if _, forged := bridge.DecodePaused(other, params); forged && !bytes.Contains(params, []byte("ffffffffffffffff")) {
			t.Errorf("a call of one task is taken by another: %q", params)
		}
	})
}

// What a call says is read as it was said, or not at all.
func FuzzParseCall(f *testing.F) {
	f.Add("1.1", "confirm", "http://a.test/", "message", "default", "")
	f.Add("1.1", "prompt", "", "", "", "page text")
	f.Add("1 2", "alert", "\U0001f600", "\U0001f600 ", " ", fuzzToken[1:])
	f.Fuzz(func(t *testing.T, key, kind, url, message, value, forged string) {
		if c, ours := bridge.ParseCall(fuzzSecret, forged); ours && !strings.HasPrefix(forged, fuzzToken) {
			t.Errorf("%q is taken for the call %+v", forged, c)
		}
		said := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") } // JSON has no other
		url, message, value = said(url), said(message), said(value)
		c, ours := bridge.ParseCall(fuzzSecret, callText(key, kind, url, message, value))
		if !ours {
			return
		}
		checkCall(t, c)
		if strings.Contains(key, " ") || len(message) > clip.MaxDialogText || len(value) > clip.MaxDialogText || len(url) > clip.MaxURL {
			return
		}
		if c != (bridge.Call{Key: key, Kind: kind, URL: url, Message: message, Default: value}) {
			t.Errorf("said %q %q %q %q %q, read %+v", key, kind, url, message, value, c)
		}
	})
}

// A script is ours by its whole name, and tells of a frame.
func FuzzDecodeScript(f *testing.F) {
	for _, name := range []string{fuzzName, fuzzName + "0", "x", ""} {
		f.Add([]byte(`{"url":"` + name + `","executionContextId":3,"executionContextAuxData":{"frameId":"F"}}`))
	}
	f.Add([]byte(`{"url":"x","sourceMapURL":"` + fuzzName + `","executionContextAuxData":null}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		frame, _, ours := bridge.DecodeScript(fuzzSecret, params)
		if !ours {
			return
		}
		var e struct {
			URL string `json:"url"`
		}
		if json.Unmarshal(params, &e) != nil || e.URL != fuzzName {
			t.Errorf("%q is taken for our script", params)
		}
		if frame == "" || len(frame) > clip.MaxID {
			t.Errorf("a frame of %d bytes", len(frame))
		}
		if _, _, without := bridge.DecodeScript(bridge.Secret{}, params); without {
			t.Error("a task without a bridge has a script")
		}
	})
}

// A page can make a request to any address: only one of ours, as ours are written, is
// taken for a call, and what is taken is small.
func FuzzReadAddress(f *testing.F) {
	host, path := "https://"+fuzzSecret.Host()+"/", "/"+fuzzSecret.Path()+"/"
	for _, url := range []string{
		host + "label.1-2-3-4", "https://a.test" + path + "label.1-2-3-4", "http://a.test:8080" + path + "label.1",
		host, host + ".", host + "label.", host + ".1", host + "label.1/2", host + "label.1?2", host + "label.1#2", host + "label.1.2",
		"https://a.test/x" + path + "label.1", "https://a.test?" + path + "label.1", path + "label.1", "://" + path + "label.1",
		"https://user:" + fuzzSecret.Host() + "@a.test/label.1", "blob:https://a.test" + path + "label.1", "",
	} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		label, key := fuzzSecret.ReadAddress(url)
		if (label == "") != (key == "") || len(label) > 64 || len(key) > 64 || strings.ContainsAny(label+key, "/?#") {
			t.Errorf("%q: label %q, key %q", url, label, key)
		}
		if label != "" && url != host+label+"."+key && !strings.HasSuffix(url, path+label+"."+key) {
			t.Errorf("%q: label %q, key %q", url, label, key)
		}
	})
}

// A page can make a text as long as a message may be. Of many that were read no more is
// kept than their parts, each by its own bound.
func TestNothingKeepsTheWholeOfAText(t *testing.T) {
	const long, many = 2 << 20, 16
	rest := strings.Repeat("x", long)
	whole, foreign := callText("1.1", "prompt", "http://a.test/", "m", rest), pausedIn("0123456789abcdef"+rest)
	var kept []any
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range many {
		c, ok := bridge.ParseCall(fuzzSecret, strings.Clone(whole))
		if !ok {
			t.Fatal("a call is not read")
		}
		kept = append(kept, c, (decode.Source{Secret: fuzzSecret}).Decode(time.Time{}, "Debugger.paused", foreign))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > long {
		t.Errorf("%d texts of %d bytes keep %d", 2*many, long, grown)
	}
	runtime.KeepAlive(kept)
}
