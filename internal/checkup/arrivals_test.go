package checkup

import (
	"context"
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
	popups := map[string]bool{} // by target, whether it was held
	for range 2 {
		popup, err := p.arrivals.next(ctx, func(a attached) bool {
			_, isKnown := popups[a.Target.ID]
			return a.Target.Opener == p.target && !isKnown
		})
		if err != nil {
			t.Fatal(err)
		}
		popups[popup.Target.ID] = popup.Waiting
		if isFirst := len(popups) == 1; popup.Waiting != isFirst {
			t.Errorf("popup %d: held %t", len(popups), popup.Waiting)
		}
	}
}
