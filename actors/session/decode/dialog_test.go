package decode_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
)

// TestDialogEventsReadByHand holds the short way to the long one: an escape, or a
// space, that changes nothing sends the same event the long way.
func TestDialogEventsReadByHand(t *testing.T) {
	t.Parallel()
	cfg := decode.Source{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}}
	now := time.Unix(1, 0)
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringMatching(`[a-z "\\/<>:{},é\n\x7f\x01]*`))
	rapid.Check(t, func(t *rapid.T) {
		method := rapid.SampledFrom([]string{"Page.javascriptDialogOpening", "Page.javascriptDialogClosed"}).Draw(t, "method")
		object := map[string]any{}
		for _, name := range []string{"url", "frameId", "message", "type", "hasBrowserHandler", "defaultPrompt", "result", "userInput", "URL", "more"} {
			switch rapid.IntRange(0, 6).Draw(t, name) {
			case 0:
			case 1:
				object[name] = rapid.Bool().Draw(t, "truth")
			case 2:
				object[name] = nil
			default:
				object[name] = text.Draw(t, "text")
			}
		}
		params, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		short, long := cfg.Decode(now, method, params), cfg.Decode(now, method, []byte(" "+string(params)))
		if diff := cmp.Diff(long, short); diff != "" {
			t.Errorf("%s: by hand it is another (+):\n%s", params, diff)
		}
	})
	for _, broken := range []string{"", "{", `{"frameId"`, `{"frameId":`, `{"frameId":"F"`, `{"frameId":"F",`, `{"frameId":"F"}}`, `{"frameId":"F",}`, `{"result":tru}`, `{"frameId":"F" }x`} {
		if fact := cfg.Decode(now, "Page.javascriptDialogClosed", []byte(broken)); fact != nil {
			t.Errorf("%q is %v", broken, fact)
		}
	}
	if cfg.Decode(now, "Page.javascriptDialogClosed", []byte(`{}`)) == nil {
		t.Error("an event that says nothing is none")
	}
}

func BenchmarkDecodeDialog(b *testing.B) {
	cfg := decode.Source{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}}
	params := []byte(`{"url":"http://a.test/p","frameId":"472C0E1A5B2D4F6A8C9E0B1D2F3A4B5C","message":"are you sure?","type":"confirm","hasBrowserHandler":true,"defaultPrompt":""}`)
	for name, p := range map[string][]byte{"by hand": params, "by encoding/json": []byte(strings.Replace(string(params), ":", ": ", 1))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cfg.Decode(time.Time{}, "Page.javascriptDialogOpening", p)
			}
		})
	}
}
