package registry_test

import (
	"io"
	"log/slog"
	"testing"

	"holdfast/actors/registry"
	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestAStalledRegistryRefusesStarts fills the mailbox of a registry that hangs:
// each start beyond it is answered at once, and the registry lives on.
func TestAStalledRegistryRefusesStarts(t *testing.T) {
	t.Parallel()
	gate, entered := make(chan struct{}), make(chan struct{})
	first := true
	sys, err := guard.NewSystem(guard.Options{
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Intercept: func(m guard.Moment) {
			if m.Kind == "registry" && m.Phase == guard.PhaseReceive && first {
				first = false
				close(entered)
				<-gate
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := sys.Root(guard.Child{Kind: "registry", Key: "node", Mailbox: registry.Mailbox, CanShed: true, New: func() guard.Behavior {
		return registry.New(registry.Config{Directory: &registry.Directory{}})
	}})
	answered := make(chan error, 2*registry.Mailbox)
	reply := func() mail.Call { return sys.Calls().Open(func(_ any, err error) { answered <- err }) }
	sys.Send(h.PID(), registry.Ping{Reply: sys.Calls().Open(func(any, error) {})})
	<-entered
	const asked = registry.Mailbox
	for range asked {
		sys.Send(h.PID(), mail.StopTask{ID: "nobody", Reply: reply()})
	}
	refused := len(answered)
	if refused < asked/2 || refused > asked/2+10 {
		t.Errorf("%d of %d were answered while it hung", refused, asked)
	}
	for range refused {
		if err := <-answered; messages.CodeOf(err) != messages.CodeLimitReached {
			t.Fatalf("refused with %v", err)
		}
	}
	for range 2 * registry.Mailbox { // these have no caller, and do not end it
		sys.Send(h.PID(), mail.TaskActive{ID: "nobody"})
	}
	close(gate)
	for range asked - refused {
		if err := <-answered; err != nil {
			t.Fatalf("%v", err)
		}
	}
	if _, err := h.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if r := h.Reason(); r.Kind != guard.Shutdown {
		t.Errorf("ended by %s", r)
	}
	if err := sys.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
