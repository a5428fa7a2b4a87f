package registry_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/actors/registry"
	"holdfast/internal/pressure"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// hall is a machine with callers who want in. Supervisors start at once.
type hall struct {
	*testing.T
	m        *registry.Machine
	now      time.Time
	gens     map[messages.TaskID]uint64
	began    []string          // tasks, in the order they started
	outcomes map[string]string // of callers, by name; of who still waits there is none
	errs     map[string]*messages.Error
	admitted map[string]bool
	tickets  map[string]uint64
	rejected []messages.LimitReason
	wake     time.Time
	said     []string
}

func newHall(t *testing.T, l messages.Limits) *hall {
	return &hall{
		T: t, m: registry.NewMachine(l, messages.CDPURL{}), now: time.Unix(1000, 0), gens: map[messages.TaskID]uint64{},
		outcomes: map[string]string{}, errs: map[string]*messages.Error{}, admitted: map[string]bool{}, tickets: map[string]uint64{},
	}
}

func (h *hall) step(in any) {
	var started []registry.SpawnSupervisor
	for _, e := range h.m.Step(h.now, in) {
		switch e := e.(type) {
		case registry.SpawnSupervisor:
			h.gens[e.ID] = e.Gen
			h.began = append(h.began, string(e.ID))
			started = append(started, e)
		case registry.Admit:
			calls.Answer(e.To, nil, nil)
		case registry.Rejected:
			h.rejected = append(h.rejected, e.Reason)
		case registry.Wake:
			h.wake = e.At
		case registry.GateChanged:
			h.said = append(h.said, fmt.Sprintf("%s %s", e.Resource, e.Load.State))
		case registry.Answer:
			calls.Answer(e.To, e.Value, e.Err)
		}
	}
	for _, s := range started {
		h.step(mail.TaskActive{ID: s.ID, Gen: s.Gen})
	}
}

// ask has a caller of that name ask for the task that is named before the
// #: "t#second" is a second caller for t.
func (h *hall) ask(name string, spec messages.TaskSpec, wait ...float64) {
	h.Helper()
	id, _, _ := strings.Cut(name, "#")
	if len(wait) > 0 {
		spec.QueueTimeoutS = &wait[0]
	}
	ticket := uint64(len(h.tickets) + 1)
	h.tickets[name] = ticket
	h.step(mail.StartTask{
		ID: messages.TaskID(id), Spec: spec, Ticket: ticket,
		Admitted: calls.Open(func(any, error) { h.admitted[name] = true }),
		Reply: calls.Open(func(v any, err error) {
			if h.outcomes[name] != "" {
				h.Errorf("%s has two outcomes: %s, and %v %v", name, h.outcomes[name], v, err)
			}
			var own *messages.Error
			switch {
			case errors.As(err, &own):
				h.errs[name] = own
				h.outcomes[name] = string(own.Code)
				if why, ok := own.Details["reason"].(messages.LimitReason); ok {
					h.outcomes[name] = string(why)
				}
			case v.(mail.StartOutcome).HasStarted:
				h.outcomes[name] = "started"
			default:
				h.outcomes[name] = "runs"
			}
		}),
	})
}

func (h *hall) exit(id messages.TaskID) {
	h.step(registry.SupervisorExited{ID: id, Gen: h.gens[id]})
}

func (h *hall) stop(id messages.TaskID) {
	h.step(mail.StopTask{ID: id})
	h.exit(id)
}

// after lets time pass, with a QueueDue where one was asked for.
func (h *hall) after(d time.Duration) {
	h.now = h.now.Add(d)
	if !h.wake.IsZero() && !h.wake.After(h.now) {
		h.wake = time.Time{}
		h.step(registry.QueueDue{})
	}
}

func (h *hall) want(outcomes string, names ...string) {
	h.Helper()
	for _, name := range names {
		if h.outcomes[name] != outcomes {
			h.Errorf("%s: %q, want %q", name, h.outcomes[name], outcomes)
		}
	}
}

func (h *hall) wantBegan(names ...string) {
	h.Helper()
	if !slices.Equal(h.began, names) {
		h.Errorf("began %v, want %v", h.began, names)
	}
	h.began = nil
}

var (
	attaching = at(1)
	launching = messages.TaskSpec{Launch: &messages.LaunchSpec{}}
)

const waits = "" // the outcome of who waits

func memory(used float64) registry.Measured {
	return registry.Measured{Sample: pressure.Sample{Memory: pressure.Level{Used: used, Source: "host"}}}
}
