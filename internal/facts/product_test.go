package facts_test

import (
	"testing"

	"holdfast/transport/quirks"
)

// The product fails commands fast that it believes Chromium would leave
// hanging. What it believes is held against what Chromium does, above.
func TestTheProductKnowsWhatHangs(t *testing.T) {
	t.Parallel()
	for _, c := range hanging {
		if !quirks.NeedsRenderer(c.method) {
			t.Errorf("%s hangs under a dialog, and the product would wait for it", c.method)
		}
	}
	for _, c := range answering {
		if quirks.NeedsRenderer(c.method) {
			t.Errorf("%s is answered under a dialog, and the product would refuse it", c.method)
		}
	}
}
