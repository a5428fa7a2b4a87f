package lease_test

import (
	"testing"
	"time"

	"holdfast/internal/cluster/lease"
)

func TestTimesAreRefusedThatAllowTwoDeciders(t *testing.T) {
	t.Parallel()
	if err := lease.DefaultTimes().Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*lease.Times){
		"take as long as own":          func(l *lease.Times) { l.Take = l.Own },
		"take by less than a tenth":    func(l *lease.Times) { l.Take = l.Own + l.Own/11 },
		"no room for two attempts":     func(l *lease.Times) { l.Attempt = time.Second },
		"a pause of nothing":           func(l *lease.Times) { l.Retry = 0 },
		"a lease of more than minutes": func(l *lease.Times) { l.Own, l.Take = time.Hour, 2*time.Hour },
	} {
		l := lease.DefaultTimes()
		change(&l)
		if l.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "holdfast-0", "node.example.org", "7"} {
		if err := lease.ValidName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "A", "a/b", "a b", "ä", string(make([]byte, 65))} {
		if lease.ValidName(name) == nil {
			t.Errorf("%q is a name", name)
		}
	}
}
