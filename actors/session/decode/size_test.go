package decode_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestWhatIsKeptOfAnEventIsBounded has a browser say everything at great
// length: facts wait in mailboxes by the ten thousand.
func TestWhatIsKeptOfAnEventIsBounded(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 3<<20)
	events := map[string][]string{ // by method, the texts it is made of
		"Page.javascriptDialogOpening":    {"url", "frameId", "message", "type", "defaultPrompt"},
		"Page.javascriptDialogClosed":     {"frameId", "userInput"},
		"Page.frameAttached":              {"frameId", "parentFrameId"},
		"Page.frameDetached":              {"frameId", "reason"},
		"Page.frameNavigated":             {"frame.id", "frame.parentId", "frame.loaderId", "frame.url", "frame.urlFragment", "frame.securityOrigin"},
		"Page.frameSubtreeWillBeDetached": {"frameId"},
		"Page.frameStartedNavigating":     {"loaderId"},
		"Page.navigatedWithinDocument":    {"frameId", "url"},
		"Page.lifecycleEvent":             {"frameId", "loaderId"},
		"Runtime.consoleAPICalled":        {"args"},
		"Target.attachedToTarget":         {"sessionId", "targetInfo.targetId", "targetInfo.type", "targetInfo.title", "targetInfo.url", "targetInfo.openerId", "targetInfo.parentFrameId"},
		"Target.detachedFromTarget":       {"sessionId"},
		"Target.targetDestroyed":          {"targetId"},
		"Target.targetInfoChanged":        {"targetInfo.targetId", "targetInfo.title", "targetInfo.url"},
	}
	cfg := decode.Source{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}}
	for method, texts := range events {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			for _, text := range texts {
				fields := map[string]any{"frameId": "T", "name": "load"}
				switch outer, inner, nested := strings.Cut(text, "."); {
				case nested:
					fields[outer] = map[string]any{"id": "F", "targetId": "T", inner: huge}
				case text == "args":
					fields = map[string]any{"args": []any{map[string]string{"type": "string", "value": huge}}}
				default:
					fields[text] = huge
				}
				params, err := json.Marshal(fields)
				if err != nil {
					t.Fatal(err)
				}
				if text == "args" { // the type comes first, as Chrome writes it
					params = append([]byte(`{"type":"error",`), params[1:]...)
				}
				fact := cfg.Decode(time.Unix(0, 0), method, params)
				if n := len(fmt.Sprintf("%+v", fact)); n > messages.MaxPromptText+1000 {
					t.Errorf("%s: a fact of %d bytes", text, n)
				}
			}
		})
	}
}

// TestAFrameWithALongStory: the stack of the script that made a frame is as long as
// the page likes (two hundred calls of a source with a name of 400 bytes are 97 kB on
// Chromium), and the frame is one like any other.
func TestAFrameWithALongStory(t *testing.T) {
	t.Parallel()
	call := `{"functionName":"f","scriptId":"7","url":"` + strings.Repeat("y", 400) + `","lineNumber":0,"columnNumber":0}`
	params := `{"frameId":"F","parentFrameId":"T","stack":{"callFrames":[` + call + strings.Repeat(","+call, 199) + `]}}`
	fact := (decode.Source{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}}).Decode(time.Unix(0, 0), "Page.frameAttached", []byte(params))
	if want := (mail.FrameAttached{Gen: 1, Session: "S", Page: "T", Frame: "F", Parent: "T"}); fact != want {
		t.Errorf("%+v", fact)
	}
}
