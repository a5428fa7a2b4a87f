package statedir_test

import (
	"errors"
	"path/filepath"
	"testing"

	"holdfast/internal/statedir"
)

// row is an environment and the directory it names.
type row struct {
	name string
	env  map[string]string
	want string
}

func TestDefault(t *testing.T) {
	t.Parallel()
	relative, err := filepath.Abs("state")
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]string{"HOLDFAST_STATE_DIR": relative}
	for _, c := range append(systemRows(), row{"its own variable", own, relative}, row{"made absolute", map[string]string{"HOLDFAST_STATE_DIR": "state"}, relative}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := statedir.Default(func(k string) string { return c.env[k] })
			if err != nil || got != c.want {
				t.Fatalf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
	if _, err := statedir.Default(func(string) string { return "" }); !errors.Is(err, statedir.ErrNowhere) {
		t.Fatalf("got %v", err)
	}
}
