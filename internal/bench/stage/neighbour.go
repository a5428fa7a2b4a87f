package stage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/coder/websocket"
)

// Neighbour is another client of a browser, with a habit of its own.
type Neighbour struct {
	ws *websocket.Conn
	id int
}

// Habits of neighbours.
const (
	Debugs            = "Debugger.enable"
	InterceptsPage    = "Fetch.enable"             // and lets everything go on
	InterceptsBrowser = "Fetch.enable of browsers" // the same, by the browser's session
)

type heard struct {
	ID      int
	Method  string
	Session string `json:"sessionId"`
	Params  struct{ RequestID string }
	Result  struct{ SessionID string }
	Error   *struct{ Message string }
}

// MoveIn has a neighbour at the browser and on the page of that place.
func MoveIn(browser, target, habit string) (*Neighbour, error) {
	ws, _, err := websocket.Dial(context.Background(), browser, &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1)
	n := &Neighbour{ws: ws}
	if err := n.settle(target, habit); err != nil {
		n.MoveOut()
		return nil, fmt.Errorf("neighbour: %w", err)
	}
	go func() {
		for {
			if _, err := n.hear(); err != nil {
				return // it has moved out
			}
		}
	}()
	return n, nil
}

func (n *Neighbour) settle(target, habit string) error {
	const everything = `{"patterns":[{"urlPattern":"*"}]}`
	if habit == InterceptsBrowser {
		_, err := n.call("", "Fetch.enable", everything)
		return err
	}
	session, err := n.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, target))
	if err != nil {
		return err
	}
	params := "{}"
	if habit == InterceptsPage {
		params = everything
	}
	_, err = n.call(session, habit, params)
	return err
}

// MoveOut ends its connection.
func (n *Neighbour) MoveOut() { _ = n.ws.CloseNow() }

func (n *Neighbour) send(session, method, params string) error {
	n.id++
	m := fmt.Appendf(nil, `{"id":%d,"method":%q,"params":%s`, n.id, method, params)
	if session != "" {
		m = fmt.Appendf(m, `,"sessionId":%q`, session)
	}
	return n.ws.Write(context.Background(), websocket.MessageText, append(m, '}'))
}

// call waits for the reply and returns the session in it, if there is one.
func (n *Neighbour) call(session, method, params string) (string, error) {
	if err := n.send(session, method, params); err != nil {
		return "", err
	}
	for call := n.id; ; {
		h, err := n.hear()
		switch {
		case err != nil:
			return "", err
		case h.ID == call && h.Error != nil:
			return "", fmt.Errorf("%s: %s", method, h.Error.Message)
		case h.ID == call:
			return h.Result.SessionID, nil
		}
	}
}

// hear reads a message, and lets a request go on that is one.
func (n *Neighbour) hear() (h heard, err error) {
	_, m, err := n.ws.Read(context.Background())
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(m, &h); err != nil {
		return h, err
	}
	if h.Method == "Fetch.requestPaused" {
		return h, n.send(h.Session, "Fetch.continueRequest", fmt.Sprintf(`{"requestId":%q}`, h.Params.RequestID))
	}
	return h, nil
}
