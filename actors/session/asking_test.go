package session_test

import (
	"slices"
	"sync"
	"testing"

	"holdfast/actors/session"
	"holdfast/messages"
)

func TestAsking(t *testing.T) {
	t.Parallel()
	var a session.Asking
	elsewhere := func(browser string, task messages.TaskID, want ...string) {
		t.Helper()
		if got := a.Elsewhere(browser, task); !slices.Equal(got, want) {
			t.Errorf("elsewhere than %s in %q: %q, want %q", task, browser, got, want)
		}
	}
	a.Set("B", "one", []string{"http://b.test", "http://a.test"})
	a.Set("B", "two", []string{"http://b.test"})
	elsewhere("B", "one", "http://b.test")
	elsewhere("B", "three", "http://a.test", "http://b.test")
	elsewhere("C", "three")
	a.Set("C", "one", []string{"http://c.test"}) // it has found another browser
	elsewhere("B", "three", "http://b.test")
	a.Set("B", "two", nil)
	elsewhere("B", "three")
	a.Set("", "two", []string{"http://b.test"})
	elsewhere("", "three")
}

func TestAskingByManyAtOnce(t *testing.T) {
	t.Parallel()
	var a session.Asking
	var all sync.WaitGroup
	for _, id := range []messages.TaskID{"one", "two", "three"} {
		all.Go(func() {
			for range 20 {
				a.Set("B", id, []string{"http://" + string(id) + ".test"})
				if got := a.Elsewhere("B", id); slices.Contains(got, "http://"+string(id)+".test") {
					t.Errorf("%s is told of its own", id)
				}
			}
			a.Set("B", id, nil)
		})
	}
	all.Wait()
	if got := a.Elsewhere("B", "none"); len(got) > 0 {
		t.Errorf("left: %q", got)
	}
}
