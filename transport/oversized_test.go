package transport_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

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

// What is cut within its first frame tells nothing.
func TestAPauseThatIsCutEarlyIsUnknown(t *testing.T) {
	t.Parallel()
	whole := `{"method":"Debugger.paused","params":{"callFrames":[{"url":"a"},{"url":"b"}]},"sessionId":"S"}`
	for at := range whole {
		got := transport.ShortPaused([]byte(whole[:at]), []byte(whole[at:]))
		isWhole := strings.Contains(whole[:at], `{"url":"a"}`) && strings.Contains(whole[at:], `},"sessionId":"S"}`)
		if want := `{"method":"Debugger.paused","params":{"callFrames":[{"url":"a"}]},"sessionId":"S"}`; isWhole && string(got) != want || !isWhole && got != nil {
			t.Errorf("cut at %d: %s", at, got)
		}
	}
}

// An event that is longer than a message may be, and says what a page's state is, ends the
// link: nothing else tells of it. A report is dropped. A pause is known by its first frame.
func TestAnEventThatIsTooLong(t *testing.T) {
	t.Parallel()
	const long = 3 << 12
	said := `{"callFrameId":"1.3.0","url":"name","this":{"type":"string","value":"a } \" ] asks"}}`
	for name, c := range map[string]struct{ event, ends, told string }{
		"a frame's document":     {event: `{"method":"Page.frameNavigated","params":{"frame":{"url":"%s"}},"sessionId":"S"}`, ends: "flood"},
		"an opening without end": {event: `{"method":"Page.javascriptDialogOpening","params":{"message":"%s"},"sessionId":"S"}`, ends: "flood"},
		"a target":               {event: `{"method":"Target.targetInfoChanged","params":{"targetInfo":{"title":"%s"}}}`, ends: "flood"},
		"a crash":                {event: `{"method":"Inspector.targetCrashed","params":{"a":"%s"},"sessionId":"S"}`, ends: "flood"},
		"a request that waits":   {event: `{"method":"Fetch.requestPaused","params":{"requestId":"1","request":{"postData":"%s"}}}`, ends: "flood"},
		"a pause by its frames":  {event: `{"method":"Debugger.paused","params":{"callFrames":[` + said + `,{"url":"%s"}],"reason":"other","hitBreakpoints":[]},"sessionId":"S"}`, told: `{"callFrames":[` + said + `]}`},
		"an exception":           {event: `{"method":"Runtime.exceptionThrown","params":{"a":"%s"},"sessionId":"S"}`},
		"a script":               {event: `{"method":"Debugger.scriptParsed","params":{"url":"%s"},"sessionId":"S"}`},
		"what nobody wants":      {event: `{"method":"Page.other","params":{"a":"%s"},"sessionId":"S"}`},
	} {
		for size, limit := range map[string]int64{"by a little": long, "by a lot": long / 3} {
			t.Run(name+", "+size, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					m := newBrowser(t, func(p *peer) {
						p.say(`{"method":"Target.attachedToTarget","params":{"sessionId":"S"}}`)
						p.say(c.event, strings.Repeat("x", long))
						p.echo()
					}).dial(t, transport.DialOptions{MaxMessage: limit, Events: []string{
						"Debugger.paused", "Debugger.scriptParsed", "Fetch.requestPaused", "Inspector.targetCrashed", "Page.frameNavigated",
						"Page.javascriptDialogOpening", "Runtime.exceptionThrown", "Target.attachedToTarget", "Target.targetInfoChanged",
					}})
					told := ""
					m.Bind("S", func(e transport.Event) { told += string(e.Params) })
					synctest.Wait()
					if c.ends == "" {
						if _, err := m.Do(within(t), "", "A.b", nil); err != nil || told != c.told {
							t.Errorf("after it: %v, told %q", err, told)
						}
						return
					}
					var end *transport.LinkError
					if err := m.Err(); !errors.As(err, &end) || end.Cause != transport.Cause(c.ends) || told != "" {
						t.Errorf("ended by %v, told %q", err, told)
					}
				})
			})
		}
	}
}
