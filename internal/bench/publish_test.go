package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The pages say what was measured: no figure was changed by hand, and no sample is without
// its place in the pages.
func TestThePagesHaveTheStoredFigures(t *testing.T) {
	t.Parallel()
	const root = "../.."
	files, err := written(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docs/performance.md", "docs/bridge.md", scalePicture} {
		want, ok := files[name]
		if !ok {
			t.Errorf("nothing is written into %s", name)
			continue
		}
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s has other figures than %s and %s: make bench-docs", name, figuresFile, scaleFile)
		}
	}
}
