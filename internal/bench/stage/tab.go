package stage

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/coder/websocket"

	"holdfast/transport"
)

// tab is the target that Chrome puts between the browser and a page for those
// who ask for it, which of the clients here is Puppeteer alone. The fake browser
// has none; the front has one in its place, which holds every page.
type tab struct {
	mu      sync.Mutex
	isAsked bool
	pending int64 // the auto-attach under way, which the browser answers without a session
}

const tabSession = "7AB"

var (
	setAutoAttach = []byte("Target.setAutoAttach")
	excludes      = []byte(`"exclude":true`)
	tabAttached   = []byte(`{"method":"Target.attachedToTarget","params":{"sessionId":"` + tabSession +
		`","targetInfo":{"targetId":"7AB0","type":"tab","title":"","url":"","attached":true,"canAccessOpener":false},"waitingForDebugger":false}}`)
	pageAttached = []byte(`{"method":"Target.attachedToTarget"`)
)

// take carries out what is for the tab; false is for everything else.
func (t *tab) take(ctx context.Context, f *front, e transport.Envelope) (bool, error) {
	auto := bytes.Equal(e.Method, setAutoAttach)
	switch {
	case auto && e.SessionID == nil && bytes.Contains(e.Params, excludes):
		t.mu.Lock()
		t.isAsked = true
		t.mu.Unlock()
		if err := f.write(opText, tabAttached); err != nil {
			return true, err
		}
		return true, f.reply(e, `{}`)
	case string(e.SessionID) != tabSession:
		return false, nil
	case auto:
		t.mu.Lock()
		t.pending = e.ID
		t.mu.Unlock()
		return true, f.inner.Write(ctx, websocket.MessageText,
			fmt.Appendf(nil, `{"id":%d,"method":"Target.setAutoAttach","params":{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page"}]}}`, e.ID))
	default:
		return true, f.reply(e, `{}`)
	}
}

// put gives the tab's session to what the browser says of its pages.
func (t *tab) put(message []byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isAsked {
		return message
	}
	e, err := transport.Scan(message)
	if err != nil || e.SessionID != nil {
		return message
	}
	if bytes.HasPrefix(message, pageAttached) || e.HasID && e.ID == t.pending {
		return append(bytes.TrimSuffix(message, []byte("}")), `,"sessionId":"`+tabSession+`"}`...)
	}
	return message
}
