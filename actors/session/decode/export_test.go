package decode

import (
	"holdfast/messages/mail"
)

// DecodeUnread is the fact of a frequent event that has not been scanned.
func DecodeUnread(c Source, method string, params []byte) any {
	return Unread(&c, &Repeated{}, method, params)
}

// DecodeFrameTree reads the result of Page.getFrameTree.
func DecodeFrameTree(result []byte) ([]mail.FrameInfo, error) {
	return FrameTree(&Source{}, result)
}

// QuickFrameTree is the quick reading of the result of Page.getFrameTree.
func QuickFrameTree(result []byte) ([]mail.FrameInfo, bool) {
	return scanFrameTree(&Source{}, result)
}

// Quickly is the quick reading of an event, if there is one.
func Quickly(c Source, method string, params []byte) (fact any, ok bool) {
	switch method {
	case "Runtime.consoleAPICalled":
		fact, ok = ScanConsole(&c, &Repeated{}, params)
	case "Page.frameNavigated":
		fact, ok = scanNavigated(&c, &Repeated{}, params)
	case "Page.lifecycleEvent":
		fact, ok = scanLifecycle(params)
	case "Target.attachedToTarget":
		fact, ok = scanAttached(&c, params)
	case "Target.targetInfoChanged":
		fact, ok = scanTargetInfo(params)
	}
	return fact, ok
}
