package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// beHoldfast makes the test binary the program itself.
const beHoldfast = "BE_HOLDFAST"

func TestMain(m *testing.M) {
	if os.Getenv(beHoldfast) != "" {
		main()
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
