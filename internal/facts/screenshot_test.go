package facts_test

import (
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

// Rule: a page that is not in front of its window is drawn only for the next picture, so one
// that is asked for alone may never come. A page in a window of its own is drawn.
func TestC69_APageBehindAnotherIsDrawnForTheNextPicture(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/plain"))
	c.Must(p.Session, "Emulation.setFocusEmulationEnabled", params{"enabled": true})
	shoot := func(p *chromiumtest.Page) *chromiumtest.Pending {
		return c.Send(p.Session, "Page.captureScreenshot", params{"format": "jpeg"})
	}
	// A page that has just loaded is drawn for a while.
	for begun := time.Now(); ; {
		first := shoot(p)
		if _, err := first.Wait(silence); err == nil {
			if time.Since(begun) > chromiumtest.Patience {
				t.Error("a page behind another one is drawn")
				break
			}
			continue
		}
		shoot(p)
		if _, err := first.Wait(chromiumtest.Patience); err != nil {
			t.Errorf("the picture has not come with the next one: %v", err)
		}
		break
	}
	own := c.NewWindow(site.URL("http://a.test/plain"))
	for range 4 {
		c.Must(own.Session, "Page.captureScreenshot", params{"format": "jpeg"})
	}
}
