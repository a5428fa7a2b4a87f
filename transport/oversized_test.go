package transport_test

import (
	"encoding/json"
	"strings"
	"testing"

	"holdfast/transport"
)

// TestAnOpeningThatIsTooLongIsKnown: a page may give a prompt a default of any length.
func TestAnOpeningThatIsTooLongIsKnown(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{"plain": "B", "quotes": `"`, "backslashes": `\\`, "signs": "\u0001", "characters": "é€😀", "keys": `,"defaultPrompt":"`, "ends": `"},"sessionId":"X"}`} {
		for shift := range 8 {
			text, err := json.Marshal(strings.Repeat("a", shift) + strings.Repeat(unit, 4000))
			if err != nil {
				t.Fatal(err)
			}
			message, err := json.Marshal(`asks ,"defaultPrompt":"`)
			if err != nil {
				t.Fatal(err)
			}
			whole := []byte(`{"method":"Page.javascriptDialogOpening","params":{"url":"u://","frameId":"F","message":` + string(message) + `,"type":"prompt","hasBrowserHandler":false,"defaultPrompt":` + string(text) + `},"sessionId":"S1"}`)
			e, err := transport.Scan(transport.ShortOpening(whole[:2000], whole[len(whole)-512:]))
			if err != nil || string(e.SessionID) != "S1" {
				t.Fatalf("%s, %d: session %q, %v", name, shift, e.SessionID, err)
			}
			var o struct{ FrameID, Message, Type, DefaultPrompt string }
			if err := json.Unmarshal(e.Params, &o); err != nil || o.FrameID != "F" || o.Message != `asks ,"defaultPrompt":"` || o.Type != "prompt" {
				t.Errorf("%s, %d: %+v, %v", name, shift, o, err)
			}
			var full string
			if err := json.Unmarshal(text, &full); err != nil {
				t.Fatal(err)
			}
			if kept, isCut := strings.CutSuffix(o.DefaultPrompt, "…"); !isCut || !strings.HasPrefix(full, kept) || len(kept) < 100 && name != "backslashes" {
				t.Errorf("%s, %d: default %q", name, shift, o.DefaultPrompt)
			}
		}
	}
	if got := transport.ShortOpening([]byte(`{"method":"Page.javascriptDialogOpening"`), nil); got != nil {
		t.Errorf("made up %s", got)
	}
}
