package cli_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"holdfast/internal/cli"
)

// TestNodesOfOneStateDirectoryAreFound: whichever of them ends, clients find the newest
// of those that are left, and nothing is left after the last.
func TestNodesOfOneStateDirectoryAreFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		type node struct {
			url      string
			withdraw func() error
		}
		var nodes []node
		for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
			n := node{url: "http://127.0.0.1:" + string(rune('1'+i))}
			if n.withdraw, err = cli.Publish(dir, n.url, "token"); err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, n)
		}
		newest := nodes[len(nodes)-1].url
		for len(nodes) > 0 {
			i := rapid.IntRange(0, len(nodes)-1).Draw(t, "ends")
			wasFound := nodes[i].url == newest
			if err := nodes[i].withdraw(); err != nil {
				t.Fatal(err)
			}
			nodes = slices.Delete(nodes, i, i+1)
			url, err := cli.EndpointURL(dir)
			switch {
			case len(nodes) == 0:
				if !errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("%s, %v after the last", url, err)
				}
			case err != nil, !slices.ContainsFunc(nodes, func(n node) bool { return n.url == url }), !wasFound && url != newest:
				t.Fatalf("%s, %v; %d nodes are left, the newest was %s", url, err, len(nodes), newest)
			default:
				newest = url
			}
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Fatalf("left behind: %v", left)
		}
	})
}

// TestANodeThatWasKilledIsNotFound when another ends.
func TestANodeThatWasKilledIsNotFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dead := filepath.Join(dir, "endpoint-OLD.json")
	if err := os.WriteFile(dead, []byte(`{"url":"http://127.0.0.1:9","pid":2147483646,"nonce":"OLD"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	withdraw, err := cli.Publish(dir, "http://127.0.0.1:1", "token")
	if err != nil {
		t.Fatal(err)
	}
	if err := withdraw(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
