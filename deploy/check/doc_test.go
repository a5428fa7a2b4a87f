// Package check holds the files of deploy to the product and to the formats they
// are written in: every flag, setting, metric, label and path they name exists,
// and every object is one that Kubernetes, Compose, Prometheus, Grafana and
// systemd take.
package check_test

import (
	"os"
	"path/filepath"
	"testing"
)

// read returns a file of the repository.
func read(t *testing.T, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(repo(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func repo(elem ...string) string { return filepath.Join(append([]string{"..", ".."}, elem...)...) }
