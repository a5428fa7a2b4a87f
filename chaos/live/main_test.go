package live_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"holdfast/internal/chromiumtest"
)

// The defaults are a slice that fits every test run; make chaos runs all of it.
var (
	seed          = flag.Uint64("seed", 1, "decides the plans")
	tasks         = flag.Int("tasks", 8, "tasks on real sockets at once")
	kills         = flag.Int("kills", 32, "kills on real sockets, of all tasks together")
	chromiumKills = flag.Int("chromium-kills", 6, "kills on a real Chromium")
)

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(chromiumtest.Main(m))
}
