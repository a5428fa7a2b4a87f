package session

import (
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// DecodeUnread is what is made of a frequent event that nobody has walked.
func DecodeUnread(c Source, method string, params []byte) any {
	return decodeUnwalked(&c, &repeated{}, method, params)
}

// HasDocument reads the result of Page.getNavigationHistory.
func HasDocument(result []byte) bool { return hasDocument(result) }

// DecodeFrameTree reads the result of Page.getFrameTree.
func DecodeFrameTree(result []byte) ([]mail.FrameInfo, error) {
	return decodeFrameTree(&Source{}, result)
}

// Call is what a call that waits says of itself.
type Call struct{ Key, CallFrame, Kind, URL, Message, Default string }

// DecodePaused reads Debugger.paused; false is a pause of somebody else's.
func DecodePaused(s BridgeSecret, params []byte) (Call, bool) {
	p, ours := s.decodePaused(time.Time{}, params).(bridgePaused)
	return Call{p.Pause.Key, p.Pause.CallFrame, p.Kind, p.Address, p.Message, p.Default}, ours
}

// ParseCall reads the text that a call is made of.
func ParseCall(s BridgeSecret, text string) (Call, bool) {
	p, ours := s.parseCall(text)
	return Call{Key: p.Pause.Key, Kind: p.Kind, URL: p.Address, Message: p.Message, Default: p.Default}, ours
}

// DecodeScript reads Debugger.scriptParsed; false is a script of the page's.
func DecodeScript(s BridgeSecret, params []byte) (frame messages.FrameID, context int64, ours bool) {
	p, ours := s.decodeScript(params).(bridgeScript)
	return p.Frame, p.Context, ours
}

// QuickFrameTree is the quick reading of the result of Page.getFrameTree.
func QuickFrameTree(result []byte) ([]mail.FrameInfo, bool) {
	return quickFrameTree(&Source{}, result)
}

// Quickly is the quick reading of an event, if there is one.
func Quickly(c Source, method string, params []byte) (fact any, ok bool) {
	switch method {
	case "Runtime.consoleAPICalled":
		fact, ok = quickConsole(&c, &repeated{}, params)
	case "Page.frameNavigated":
		fact, ok = quickNavigated(&c, &repeated{}, params)
	case "Page.lifecycleEvent":
		fact, ok = quickLifecycle(params)
	case "Target.attachedToTarget":
		fact, ok = quickAttached(&c, params)
	case "Target.targetInfoChanged":
		fact, ok = quickTargetInfo(params)
	}
	return fact, ok
}

// ReadAddress reads whose call a request is, and which.
func (s BridgeSecret) ReadAddress(url string) (label, key string) { return s.readAddress(url) }
