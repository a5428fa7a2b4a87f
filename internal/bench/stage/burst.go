package stage

import (
	"bytes"
	"fmt"
	"strings"
)

// Burst says what Bench.burst sends: events of Size bytes, of one kind.
type Burst struct {
	Kind   string `json:"kind"`
	Events int    `json:"events"`
	// From is the serial number of the first event. No two events of one number
	// are alike, and each changes what a supervisor knows.
	From int `json:"from"`
	// Frame is the frame that events of the kind Changes navigate, below Parent.
	Frame  string `json:"frame"`
	Parent string `json:"parent"`
}

// The kinds of bursts.
const (
	Ignored = "ignored" // unwanted: Network.dataReceived
	Console = "console" // console messages that are no errors
	Changes = "changes" // console errors and navigations of a frame, in turn
)

// Kinds are all of them.
var Kinds = []string{Ignored, Console, Changes}

// Size is how long an event is, in bytes.
const Size = 600

// frames are the events as they go over the wire.
func (b Burst) frames(session string) []byte {
	var out []byte
	tail := "}"
	if session != "" {
		tail = `,"sessionId":"` + session + `"}`
	}
	switch b.Kind {
	case Console:
		one := appendFrame(nil, opText, pad(`{"method":"Runtime.consoleAPICalled","params":{"type":"log","args":[{"type":"string","value":"`, `"}],"executionContextId":1,"timestamp":1700000000000.25,"stackTrace":{"callFrames":[{"functionName":"tick","scriptId":"1","url":"http://a.test/app.js","lineNumber":0,"columnNumber":8}]}}`+tail))
		return bytes.Repeat(one, b.Events)
	case Ignored:
		one := appendFrame(nil, opText, pad(`{"method":"Network.dataReceived","params":{"requestId":"1000012345.67","timestamp":36123.456789,"dataLength":16384,"encodedDataLength":4096,"data":"`, `"}`+tail))
		return bytes.Repeat(one, b.Events)
	}
	for i := range b.Events {
		n := b.From + i
		if i%2 == 0 {
			out = appendFrame(out, opText, pad(fmt.Sprintf(`{"method":"Runtime.consoleAPICalled","params":{"type":"error","args":[{"type":"string","value":"%s"}],"executionContextId":1,"timestamp":%d.25,"stackTrace":{"callFrames":[{"functionName":"","scriptId":"1","url":"`,
				Serial(n), 1700000000000+n), `","lineNumber":0,"columnNumber":8}]}}`+tail))
			continue
		}
		out = appendFrame(out, opText, pad(fmt.Sprintf(`{"method":"Page.frameNavigated","params":{"frame":{"id":"%s","parentId":"%s","loaderId":"%032X","url":"http://a.test/%s?`,
			b.Frame, b.Parent, n, Serial(n)), `","domainAndRegistry":"a.test","securityOrigin":"http://a.test","mimeType":"text/html","secureContextType":"InsecureScheme","crossOriginIsolatedContextType":"NotIsolated","gatedAPIFeatures":[]},"type":"Navigation"}`+tail))
	}
	return out
}

// Serial is how the event of that number is known in text.
func Serial(n int) string { return fmt.Sprintf("e%09d", n) }

// pad fills the middle up so that the message has [Size] bytes.
func pad(head, tail string) []byte {
	return []byte(head + strings.Repeat("x", max(0, Size-len(head)-len(tail))) + tail)
}
