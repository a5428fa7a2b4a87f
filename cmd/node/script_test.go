package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// beHoldfast makes the test binary the program itself.
const beHoldfast = "BE_HOLDFAST"

func TestMain(m *testing.M) {
	if os.Getenv(beHoldfast) != "" {
		main()
	}
	if filepath.Base(os.Args[0]) != "holdfast" {
		// The tests may have been started by nohup. A program keeps ignoring what the process
		// that starts it ignores, and not what that process takes.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Main(m, map[string]func(){"holdfast": main})
}

// TestScripts runs the scripts of testdata/script with the program as holdfast.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOLDFAST_STATE_DIR", e.WorkDir+"/state")
			return nil
		},
	})
}
