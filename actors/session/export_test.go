package session

import (
	"time"

	"holdfast/messages"
)

// Decode is what the link's reader does with an event of session c.
func Decode(c Config, now time.Time, method string, params []byte) any {
	return decode(c, now, method, params)
}

// DecodeFrameTree reads the result of Page.getFrameTree.
func DecodeFrameTree(result []byte) ([]messages.FrameInfo, error) { return decodeFrameTree(result) }

// TargetDestroyed is the fact that the browser tells of a page's end.
func TargetDestroyed(t messages.TargetID) any { return targetDestroyed{t} }

// Quickly is the quick reading of an event, if there is one.
func Quickly(c Config, method string, params []byte) (fact any, ok bool) {
	switch method {
	case "Runtime.consoleAPICalled":
		fact, ok = quickConsole(c, params)
	case "Page.frameNavigated":
		fact, ok = quickNavigated(c, params)
	case "Page.lifecycleEvent":
		fact, ok = quickLifecycle(params)
	}
	return fact, ok
}
