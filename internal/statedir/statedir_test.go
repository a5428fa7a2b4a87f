package statedir_test

import (
	"errors"
	"path/filepath"
	"testing"

	"holdfast/internal/statedir"
)

func TestDefault(t *testing.T) {
	t.Parallel()
	relative, err := filepath.Abs("state")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"its own variable wins", map[string]string{"HOLDFAST_STATE_DIR": "/s", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/s"},
		{"made absolute", map[string]string{"HOLDFAST_STATE_DIR": "state"}, relative},
		{"the desktop's", map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/holdfast"},
		{"a relative one does not count", map[string]string{"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/holdfast"},
		{"home", map[string]string{"HOME": "/h"}, "/h/.local/state/holdfast"},
	} {
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
