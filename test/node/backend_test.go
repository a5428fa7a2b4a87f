package node_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/internal/backend"
	"holdfast/internal/node"
	"holdfast/messages"
	"holdfast/transport"
)

// limited is a backend that is known to have less than a browser may have. It notes the
// links that are asked of it.
type limited struct {
	backend.Backend
	caps backend.Caps

	mu     sync.Mutex
	opened []messages.Role
}

func (l *limited) Caps() backend.Caps { return l.caps }

func (l *limited) Open(ctx context.Context, role messages.Role, onClose func(error)) (*transport.Mux, error) {
	l.mu.Lock()
	l.opened = append(l.opened, role)
	l.mu.Unlock()
	return l.Backend.Open(ctx, role, onClose)
}

func (l *limited) roles() []messages.Role {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.opened)
}

// TestABackendIsNotAskedForWhatItDoesNotHave: no second link is dialled, and nothing
// is asked for the bridge, whose pages stay native.
func TestABackendIsNotAskedForWhatItDoesNotHave(t *testing.T) {
	t.Parallel()
	var (
		l         *limited
		mu        sync.Mutex
		refusable []string
	)
	spy := func(_ int, method string) bool {
		if strings.HasPrefix(method, "Debugger.") || method == "Fetch.enable" {
			mu.Lock()
			defer mu.Unlock()
			refusable = append(refusable, method)
		}
		return false
	}
	with := func(c *node.Config) {
		c.Backend = func(_ messages.TaskID, own backend.Backend) backend.Backend {
			l = &limited{Backend: own, caps: backend.Caps{SecondLink: backend.No, Debugger: backend.No, RootFetch: backend.No}}
			return l
		}
	}
	inWorldWith(t, "one link", chaos.Options{Pages: 1, Refuse: spy}, with, func(w *world) {
		page := w.start("t", everything, bridged).PageTargetID
		time.Sleep(time.Minute)
		if s := w.snapshot("t"); s.Connection.Anchor != messages.LinkDown || s.Connection.AnchorOff != messages.AnchorOffSingle || s.Pages[0].Bridge != messages.BridgeUnavailable {
			w.Errorf("%+v", s.Connection)
		}
		w.asks(page, messages.PathNative)
		w.b.Connections()[0].Drop()
		time.Sleep(time.Hour)
		if want := []messages.Role{messages.RolePrimary, messages.RolePrimary}; !slices.Equal(l.roles(), want) || w.b.Dials() != 2 {
			w.Errorf("opened %v, %d dials, want %v", l.roles(), w.b.Dials(), want)
		}
		w.asks(page, messages.PathNative)
		if mu.Lock(); len(refusable) > 0 {
			w.Errorf("asked for %v", refusable)
		}
		mu.Unlock()
	})
}
