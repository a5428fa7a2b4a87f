package bridge

import (
	"time"

	"holdfast/messages"
)

// Call is what a call that waits says of itself.
type Call struct{ Key, CallFrame, Kind, URL, Message, Default string }

// DecodePaused reads Debugger.paused; false is another client's pause.
func DecodePaused(s Secret, params []byte) (Call, bool) {
	p, ours := s.DecodePaused(time.Time{}, params).(CallPaused)
	return Call{p.Pause.Key, p.Pause.CallFrame, p.Kind, p.Address, p.Message, p.Default}, ours
}

// ParseCall reads the text that a call is made of.
func ParseCall(s Secret, text string) (Call, bool) {
	p, ours := s.parseCall(text)
	return Call{Key: p.Pause.Key, Kind: p.Kind, URL: p.Address, Message: p.Message, Default: p.Default}, ours
}

// DecodeScript reads Debugger.scriptParsed; false is a script of the page's.
func DecodeScript(s Secret, params []byte) (frame messages.FrameID, context int64, ours bool) {
	p, ours := s.DecodeScript(params).(ScriptRuns)
	return p.Frame, p.Context, ours
}

// ReadAddress reads whose call a request is, and which.
func (s Secret) ReadAddress(url string) (label, key string) { return s.readAddress(url) }
