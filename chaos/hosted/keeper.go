package hosted

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// keeper is the client inside: it is on every page, and dismisses every dialog.
type keeper struct {
	ws       *websocket.Conn
	after    time.Duration
	isHolder bool
	mu       sync.Mutex // protects id and writing
	id       int
	pending  sync.WaitGroup // answers under way
}

type event struct {
	Method  string `json:"method"`
	Session string `json:"sessionId"`
	Params  struct {
		Session string `json:"sessionId"`
		Type    string `json:"type"`
		Target  struct {
			Type string `json:"type"`
		} `json:"targetInfo"`
	} `json:"params"`
}

// keep runs until ctx ends or the browser does.
func (k *keeper) keep(ctx context.Context) {
	defer k.pending.Wait()
	if k.isHolder {
		k.send(ctx, "", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`)
	} else {
		k.send(ctx, "", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true,"filter":[{"type":"page"}]}`)
	}
	for {
		_, message, err := k.ws.Read(ctx)
		if err != nil {
			return
		}
		var e event
		if json.Unmarshal(message, &e) != nil {
			continue
		}
		switch {
		case e.Method == "Target.attachedToTarget":
			if e.Params.Target.Type == "page" {
				k.send(ctx, e.Params.Session, "Page.enable", "{}")
			}
			if k.isHolder {
				k.send(ctx, e.Params.Session, "Runtime.runIfWaitingForDebugger", "{}")
			}
		case e.Method == "Page.javascriptDialogOpening" && e.Params.Type != "beforeunload":
			k.pending.Go(func() {
				wait := time.NewTimer(k.after)
				defer wait.Stop()
				select {
				case <-wait.C:
					k.send(ctx, e.Session, "Page.handleJavaScriptDialog", `{"accept":false}`)
				case <-ctx.Done():
				}
			})
		}
	}
}

func (k *keeper) send(ctx context.Context, session, method, params string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.id++
	message, err := json.Marshal(struct {
		ID      int             `json:"id"`
		Session string          `json:"sessionId,omitempty"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}{k.id, session, method, json.RawMessage(params)})
	if err == nil {
		_ = k.ws.Write(ctx, websocket.MessageText, message) // the reader hears of a lost one
	}
}
