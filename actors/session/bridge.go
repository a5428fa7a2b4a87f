package session

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"holdfast/messages"
)

// BridgeSecret tells a task's bridge from anything a page can make: 48 hexadecimal
// digits, or empty for a task that has none.
type BridgeSecret string

// BridgeSecretBytes is how many random bytes make a [BridgeSecret].
const BridgeSecretBytes = 24

// name is that of the script, by which it is not blackboxed.
func (s BridgeSecret) name() string { return string(s[:16]) }

// token begins what a call says of itself.
func (s BridgeSecret) token() string { return string(s[16:32]) }

// mark is the key to the replaced functions.
func (s BridgeSecret) mark() string { return string(s[32:]) }

//go:embed bridge.js
var bridgeSource string

func (s BridgeSecret) addScript(epoch uint64) []byte {
	source := strings.NewReplacer("'MARK'", "'"+s.mark()+"'", "'TOKEN'", "'"+s.token()+"'", "EPOCH", strconv.FormatUint(epoch, 10), "sourceURL=NAME", "sourceURL="+s.name()).Replace(bridgeSource)
	return mustJSON(struct {
		Source         string `json:"source"`
		RunImmediately bool   `json:"runImmediately"`
	}{source, true})
}

// patterns make the debugger deaf to everything but our script: a page's own
// debugger statements stay silent.
func (s BridgeSecret) patterns() []byte {
	return mustJSON(struct {
		Patterns      []string `json:"patterns"`
		SkipAnonymous bool     `json:"skipAnonymous"`
	}{[]string{"^(?!" + s.name() + "$)"}, true})
}

func (s BridgeSecret) turnOff(epoch uint64, context int64) []byte {
	return mustJSON(struct {
		Expression string `json:"expression"`
		ContextID  int64  `json:"contextId,omitempty"`
		Silent     bool   `json:"silent"`
	}{"for (const f of [alert, confirm, prompt]) { const c = f['" + s.mark() + "']; if (c) c(" + strconv.FormatUint(epoch, 10) + ", false) }", context, true})
}

// answerInFrame sets the answer of one call and of no other: the same frame may
// belong to the page's next question by now.
func answerInFrame(o messages.HandleDialog) []byte {
	answer := []byte("false")
	switch {
	case o.Accept && o.Text != nil:
		answer = mustJSON(*o.Text)
	case o.Accept:
		answer = []byte("true")
	}
	return answerWith(o.Pause, answer)
}

func answerWith(p messages.Pause, answer []byte) []byte {
	return mustJSON(struct {
		CallFrameID   string `json:"callFrameId"`
		Expression    string `json:"expression"`
		Silent        bool   `json:"silent"`
		ReturnByValue bool   `json:"returnByValue"`
	}{p.CallFrame, "id===" + string(mustJSON(p.Key)) + "&&(answer=" + string(answer) + ",true)", true, true})
}

func decodeTaken(result []byte) (bool, error) {
	var r struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	err := json.Unmarshal(result, &r)
	return r.Result.Value == true, err
}

func decodeIdentifier(result []byte) string {
	var r struct {
		Identifier string `json:"identifier"`
	}
	_ = json.Unmarshal(result, &r) // without one it is not taken back, and ends with the session
	return r.Identifier
}

// noDialog is what Chrome says of a native dialog that is not there (C4).
func noDialog() *messages.Error {
	return messages.Errorf(messages.CodeCDPError, "No dialog is showing")
}

// notPaused turns Chrome's words for a call that does not wait any more into
// those for a dialog that is gone.
func notPaused(err error) error {
	if messages.CodeOf(err) == messages.CodeCDPError {
		return noDialog()
	}
	return err
}

// decodeScript reads Debugger.scriptParsed; nearly all are the page's own.
func (s BridgeSecret) decodeScript(params []byte) any {
	if s == "" || !bytes.Contains(params, []byte(s.name())) {
		return nil
	}
	var e struct {
		URL     string `json:"url"`
		Context int64  `json:"executionContextId"`
		Aux     struct {
			Frame messages.FrameID `json:"frameId"`
		} `json:"executionContextAuxData"`
	}
	if json.Unmarshal(params, &e) != nil || e.URL != s.name() || e.Aux.Frame == "" {
		return nil
	}
	return bridgeScript{messages.FrameID(clip(string(e.Aux.Frame), maxID)), e.Context}
}

// decodePaused reads Debugger.paused: a call of ours, or somebody else's pause.
func (s BridgeSecret) decodePaused(now time.Time, params []byte) any {
	if s == "" || !bytes.Contains(params, []byte(s.token())) {
		return pausedEvent(true)
	}
	var e struct {
		CallFrames []struct {
			ID   string `json:"callFrameId"`
			This struct {
				Value any `json:"value"`
			} `json:"this"`
		} `json:"callFrames"`
	}
	if json.Unmarshal(params, &e) != nil || len(e.CallFrames) == 0 {
		return pausedEvent(true)
	}
	text, _ := e.CallFrames[0].This.Value.(string)
	p, ok := s.parseCall(text)
	if !ok {
		return pausedEvent(true)
	}
	p.Heard = now
	p.Pause.CallFrame = clip(e.CallFrames[0].ID, 256)
	p.Context = contextOf(p.Pause.CallFrame)
	return p
}

// parseCall reads what a call says of itself:
//
//	token id kind length length url message default
//
// with the lengths of the URL and of the message in UTF-16 units, since they may
// hold anything; the last three are not separated.
func (s BridgeSecret) parseCall(text string) (bridgePaused, bool) {
	rest, ok := strings.CutPrefix(text, s.token())
	if !ok {
		return bridgePaused{}, false
	}
	fields := strings.SplitN(rest, " ", 5)
	if len(fields) != 5 || fields[0] == "" || len(fields[0]) > 64 {
		return bridgePaused{}, false
	}
	p := bridgePaused{Pause: messages.Pause{Key: fields[0]}, Kind: fields[1]}
	switch p.Kind {
	case "alert", "confirm", "prompt":
	default:
		return bridgePaused{}, false
	}
	address, err := strconv.Atoi(fields[2])
	if err != nil || address < 0 {
		return bridgePaused{}, false
	}
	message, err := strconv.Atoi(fields[3])
	if err != nil || message < 0 {
		return bridgePaused{}, false
	}
	if p.Address, rest, ok = cutUnits(fields[4], address); !ok {
		return bridgePaused{}, false
	}
	p.Address = clip(p.Address, maxURL)
	p.Message, p.Default, ok = cutUnits(rest, message)
	p.Message, p.Default = clip(p.Message, maxDialogText), clip(p.Default, maxDialogText)
	return p, ok
}

// cutUnits cuts s after n UTF-16 units. A lone surrogate has become one
// character of one unit.
func cutUnits(s string, n int) (before, after string, ok bool) {
	for i, r := range s {
		if n <= 0 {
			return s[:i], s[i:], n == 0
		}
		if n--; r > 0xFFFF {
			n--
		}
	}
	return s, "", n == 0
}

// contextOf reads the execution context out of a call frame's id, which Chrome
// makes of isolate, context and depth. 0 is none.
func contextOf(callFrame string) int64 {
	parts := strings.Split(callFrame, ".")
	if len(parts) != 3 {
		return 0
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
