package node

import (
	"testing"
	"time"

	"holdfast/internal/browser"
)

// TestALaunchHasLessTimeThanItsStart: the caller hears the browser's last words, and
// not that there was no answer.
func TestALaunchHasLessTimeThanItsStart(t *testing.T) {
	t.Parallel()
	const ending = 5 * time.Second // of a browser that is killed, and an attach's beginning
	if browser.LaunchBudget+ending > startBudget {
		t.Errorf("a launch may take %v of %v", browser.LaunchBudget, startBudget)
	}
}
