package checkup

import (
	"context"
	"slices"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

// A popup that is held when the connection ends stays frozen for ever (C33).
func TestNoPopupIsHeldBehindTheCheckOfAutoAttach(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p := &patient{endpoint: chromiumtest.Launch(t).Endpoint()}
	defer p.leave(ctx)
	for _, check := range []func(*patient, context.Context) (string, error){(*patient).connects, (*patient).autoAttaches} {
		if found, err := check(p, ctx); err != nil {
			t.Fatal(found, err)
		}
	}
	if err := p.page.call(ctx, "Runtime.evaluate", object{"expression": "window.later = window.open('about:blank'); 1", "userGesture": true}, nil); err != nil {
		t.Fatal(err)
	}
	isOfTab := func(a attached) bool { return a.Target.Opener == p.target }
	if _, err := p.arrivals.next(ctx, isOfTab); err != nil {
		t.Fatal("the popup of the check:", err)
	}
	p.arrivals.mu.Lock()
	defer p.arrivals.mu.Unlock()
	if n := len(slices.DeleteFunc(slices.Clone(p.arrivals.here), func(a attached) bool { return !isOfTab(a) })); n != 1 {
		t.Errorf("%d popups of the tab were attached to, want the one of the check", n)
	}
}
