package house

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestArchitectureIsTheTree looks for each file that ARCHITECTURE.md cites, by the end of its path,
// and for the name of each package of the table of floors.
func TestArchitectureIsTheTree(t *testing.T) {
	t.Parallel()
	doc := read(t, "ARCHITECTURE.md")
	var files []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		files = append(files, filepath.ToSlash(strings.TrimPrefix(p, root)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	cited := regexp.MustCompile("`([a-zA-Z_/.]+\\.(?:go|js))`").FindAllStringSubmatch(doc, -1)
	if len(cited) < 30 {
		t.Errorf("only %d files are read", len(cited))
	}
next:
	for _, c := range cited {
		for _, f := range files {
			if strings.HasSuffix(f, "/"+c[1]) {
				continue next
			}
		}
		t.Errorf("%s is cited and not in the tree", c[1])
	}
	for _, f := range floors {
		if name := path.Base(f.pkg); name != "." && !regexp.MustCompile(`\b`+name+`\b`).MatchString(doc) {
			t.Errorf("package %s is not named", f.pkg)
		}
	}
}
