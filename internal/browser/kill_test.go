package browser_test

import (
	"context"
	"testing"

	"holdfast/internal/browser"
	"holdfast/messages"
)

// TestKill: a node that has no time left kills its browsers, also while they
// are being closed with manners, and launches none any more.
func TestKill(t *testing.T) {
	t.Parallel()
	for _, closing := range []bool{false, true} {
		m, dir := fake(t, "stubborn")
		p := launch(t, m)
		closed := make(chan error, 1)
		if closing {
			go func() { closed <- m.Close(t.Context()) }()
		} else {
			closed <- nil
		}
		if err := m.Kill(t.Context()); err != nil {
			t.Error(err)
		}
		await(t, "the exit", p.Exited())
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if _, err := m.Launch(t.Context(), browser.LaunchOptions{IsHeadless: true}); messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
			t.Error("it launches another:", err)
		}
		wantNothingLeft(t, dir)
	}
}

// TestKillDoesNotWait: who has no time at all learns that the end was not seen;
// it comes all the same.
func TestKillDoesNotWait(t *testing.T) {
	t.Parallel()
	m, dir := fake(t, "stubborn")
	p := launch(t, m)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_ = m.Kill(done) // it may have been seen
	await(t, "the exit", p.Exited())
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	wantNothingLeft(t, dir)
}
