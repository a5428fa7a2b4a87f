package registry_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/registry"
	"holdfast/messages"
)

// model is a naive account of a node's supervisors, beside the machine under
// test.
type model struct {
	*rapid.T
	m       *registry.Machine
	now     time.Time
	live    map[messages.TaskID]*supervisor
	boards  map[messages.TaskID]bool
	asked   int
	replies map[int]int
}

type supervisor struct {
	gen     uint64
	spec    messages.TaskSpec
	stopped bool
}

const maxTasks = 3

func (s *model) step(in any) {
	for _, e := range s.m.Step(s.now, in) {
		switch e := e.(type) {
		case registry.SpawnSupervisor:
			if s.live[e.ID] != nil {
				s.Fatalf("%T starts a second supervisor of %s", in, e.ID)
			}
			if err := e.Spec.Validate(); err != nil || e.Spec.Scope == "" {
				s.Fatalf("started with spec %+v: %v", e.Spec, err)
			}
			s.live[e.ID] = &supervisor{gen: e.Gen, spec: e.Spec}
			s.boards[e.ID] = true
			if len(s.live) > maxTasks {
				s.Fatalf("%d tasks run", len(s.live))
			}
		case registry.ToSupervisor:
			v := s.live[e.ID]
			if v == nil {
				s.Fatalf("%T tells %s something, which does not run", in, e.ID)
			}
			switch msg := e.Msg.(type) {
			case messages.StopTask:
				if v.stopped {
					s.Fatalf("%s is stopped twice", e.ID)
				}
				v.stopped = true
			case messages.UpdateSpec:
				if v.stopped || !msg.Spec.SameBrowser(v.spec) {
					s.Fatalf("%s keeps its supervisor for %+v", e.ID, msg.Spec)
				}
			}
		case registry.Forget:
			if s.live[e.ID] != nil {
				s.Fatalf("%s runs and is forgotten", e.ID)
			}
			delete(s.boards, e.ID)
		case registry.Answer:
			e.To(e.Value, e.Err)
		}
	}
	if n := s.m.Running(); n != len(s.live) {
		s.Fatalf("%d tasks run, %d supervisors live", n, len(s.live))
	}
}

func (s *model) reply() messages.ReplyTo {
	n := s.asked
	s.asked++
	return func(any, error) {
		if s.replies[n]++; s.replies[n] > 1 {
			s.Fatalf("order %d is answered %d times", n, s.replies[n])
		}
	}
}

func (s *model) exit(id messages.TaskID, err error) {
	gen := s.live[id].gen
	delete(s.live, id)
	s.step(registry.SupervisorExited{ID: id, Gen: gen, Err: err})
}

func TestRegistryHoldsItsInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &model{
			T: t, m: registry.NewMachine(messages.Limits{MaxTasks: maxTasks}, messages.CDPURL{}), now: time.Unix(1000, 0),
			live: map[messages.TaskID]*supervisor{}, boards: map[messages.TaskID]bool{}, replies: map[int]int{},
		}
		id := func() messages.TaskID {
			return rapid.SampledFrom([]messages.TaskID{"a", "b", "c", "d"}).Draw(t, "id")
		}
		spec := func() messages.TaskSpec {
			u, err := messages.ParseCDPURL(fmt.Sprintf("ws://127.0.0.1:%d/", rapid.IntRange(1, 2).Draw(t, "port")))
			if err != nil {
				t.Fatal(err)
			}
			return messages.TaskSpec{CDPURL: u, IdleTimeoutS: 60}
		}
		living := func() []messages.TaskID {
			var ids []messages.TaskID
			for id := range s.live {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			return ids
		}
		t.Repeat(map[string]func(*rapid.T){
			"start": func(*rapid.T) { s.step(messages.StartTask{ID: id(), Spec: spec(), Reply: s.reply()}) },
			"stop": func(*rapid.T) {
				before := s.asked
				i := id()
				s.step(messages.StopTask{ID: i, Reply: s.reply()})
				if s.live[i] == nil && s.replies[before] != 1 {
					s.Fatalf("stopping %s, which does not run, is not answered", i)
				}
			},
			"become active": func(t *rapid.T) {
				ids := living()
				if len(ids) == 0 {
					return
				}
				i := rapid.SampledFrom(ids).Draw(t, "live")
				gen := s.live[i].gen
				if rapid.IntRange(0, 3).Draw(t, "stale") == 0 {
					gen-- // of the one before
				}
				s.step(messages.TaskActive{ID: i, Gen: gen})
			},
			"exit": func(t *rapid.T) {
				ids := living()
				if len(ids) == 0 {
					return
				}
				i := rapid.SampledFrom(ids).Draw(t, "live")
				var err error
				if rapid.Bool().Draw(t, "abnormal") {
					err = messages.Errorf(messages.CodeUpstreamUnavailable, "gone")
				}
				s.exit(i, err)
			},
			"exit of one that is gone": func(t *rapid.T) {
				i := id()
				if v := s.live[i]; v != nil {
					s.step(registry.SupervisorExited{ID: i, Gen: v.gen - 1})
				} else {
					s.step(registry.SupervisorExited{ID: i, Gen: 1})
				}
			},
			"sweep": func(t *rapid.T) {
				s.now = s.now.Add(time.Duration(rapid.IntRange(1, 100).Draw(t, "minutes")) * time.Minute)
				s.step(registry.Sweep{IdleFor: func(id messages.TaskID) time.Duration {
					if s.live[id] == nil {
						s.Fatalf("%s does not run and is looked at", id)
					}
					return time.Duration(rapid.IntRange(0, 120).Draw(t, "idle")) * time.Second
				}})
			},
		})
		// A supervisor that follows another ends as well: two rounds settle all.
		for range 2 {
			for _, i := range living() {
				s.exit(i, nil)
			}
		}
		if len(s.live) != 0 {
			s.Fatalf("left: %v", living())
		}
		for n := range s.asked {
			if s.replies[n] != 1 {
				s.Fatalf("order %d has %d answers", n, s.replies[n])
			}
		}
	})
}
