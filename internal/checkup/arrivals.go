package checkup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"holdfast/messages"
	"holdfast/transport"
)

// arrivals are the pages that the first connection attaches to automatically. Each is
// resumed at once, also one of another client: a page that stays held is frozen, and its
// opener with it (C33). A page that is not the tab's is left as well, after it was resumed.
type arrivals struct {
	mux *transport.Mux

	mu   sync.Mutex
	own  string // the tab; "" while its name is not known
	here []attached
	held map[string]attached // by target: what no resume has been confirmed of
	news chan struct{}       // closed and renewed with each
}

// await begins to look after them. It takes over the ear of the browser's session.
func await(mux *transport.Mux, root *ear) *arrivals {
	a := &arrivals{mux: mux, held: map[string]attached{}, news: make(chan struct{})}
	mux.Bind("", func(ev transport.Event) {
		if ev.Method != "Target.attachedToTarget" {
			root.hear(ev)
			return
		}
		var page attached
		if json.Unmarshal(ev.Params, &page) == nil {
			a.arrived(page)
		}
	})
	return a
}

func (a *arrivals) arrived(page attached) {
	a.mu.Lock()
	a.held[page.Target.ID] = page
	a.mu.Unlock()
	a.mux.Start(transport.Call{SessionID: page.Session, Method: resume, Timeout: budget, Done: func(r transport.Reply) {
		if r.Err == nil {
			a.mu.Lock()
			defer a.mu.Unlock()
			delete(a.held, page.Target.ID)
		}
	}})
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.own != "" && !a.isOurs(page) {
		a.leave(page)
		return
	}
	a.here = append(a.here, page)
	close(a.news)
	a.news = make(chan struct{})
}

const resume = "Runtime.runIfWaitingForDebugger"

// resumeHeld resumes the pages whose sessions ended before they had confirmed that they run.
// One that is gone meanwhile has left its opener frozen (C33), which is resumed in its place.
func (a *arrivals) resumeHeld(ctx context.Context, root *ear) {
	a.mu.Lock()
	held := slices.Collect(maps.Values(a.held))
	a.mu.Unlock()
	for _, page := range held {
		if root.resume(ctx, page.Target.ID) != nil && page.Target.Opener != "" {
			_ = root.resume(ctx, page.Target.Opener)
		}
	}
}

// resume attaches to a page for as long as it takes to resume it.
func (e *ear) resume(ctx context.Context, target string) error {
	page, err := e.attach(ctx, target)
	if err != nil {
		return err
	}
	err = page.call(ctx, resume, object{}, nil)
	e.start("Target.detachFromTarget", object{"sessionId": page.session})
	return err
}

func (a *arrivals) isOurs(page attached) bool {
	return page.Target.ID == a.own || page.Target.Opener == a.own
}

// belongTo names the tab; the others are left.
func (a *arrivals) belongTo(tab string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.own = tab
	a.here = slices.DeleteFunc(a.here, func(page attached) bool {
		if !a.isOurs(page) {
			a.leave(page)
		}
		return !a.isOurs(page)
	})
}

func (a *arrivals) leave(page attached) {
	a.start("", "Target.detachFromTarget", object{"sessionId": page.Session})
}

// start sends a command whose outcome does not matter.
func (a *arrivals) start(session messages.SessionID, method string, params object) {
	(&ear{mux: a.mux, session: session}).start(method, params)
}

// next waits for one.
func (a *arrivals) next(ctx context.Context, is func(attached) bool) (attached, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		a.mu.Lock()
		i, news := slices.IndexFunc(a.here, is), a.news
		var found attached
		if i >= 0 {
			found = a.here[i]
		}
		a.mu.Unlock()
		if i >= 0 {
			return found, nil
		}
		select {
		case <-news:
		case <-timer.C:
			return attached{}, fmt.Errorf("it is not attached to within %s", patience)
		case <-a.mux.Closed():
			return attached{}, errors.Join(errors.New("the connection has ended"), a.mux.Err())
		case <-ctx.Done():
			return attached{}, ctx.Err()
		}
	}
}
