package registry_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/registry"
	"holdfast/internal/pressure"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// model is a naive account of a node's supervisors and of who waits for one,
// beside the machine under test.
type model struct {
	*rapid.T
	m        *registry.Machine
	now      time.Time
	limits   messages.Limits
	most     messages.Limits // the highest there ever were
	shut     bool            // memory is short
	draining bool
	live     map[messages.TaskID]*supervisor
	boards   map[messages.TaskID]bool
	leaving  messages.TaskID // exits in this step
	asked    int
	replies  map[int]int
	admitted map[int]bool
	queue    []*waiting // in order of arrival
	wake     time.Time
}

type supervisor struct {
	gen     uint64
	spec    messages.TaskSpec
	stopped bool
}

// waiting is a start that waits, and who for.
type waiting struct {
	id      messages.TaskID
	launch  bool
	callers []waitingCaller
}

type waitingCaller struct {
	order    int
	deadline time.Time
}

// quota is how many tasks a tenant may have that run or wait.
const quota = 2

func (s *model) step(in any) {
	for _, e := range s.m.Step(s.now, in) {
		switch e := e.(type) {
		case registry.SpawnSupervisor:
			s.spawn(in, e)
		case registry.ToSupervisor:
			v := s.live[e.ID]
			if v == nil {
				s.Fatalf("%T tells %s something, which does not run", in, e.ID)
			}
			switch msg := e.Msg.(type) {
			case mail.StopTask:
				if v.stopped {
					s.Fatalf("%s is stopped twice", e.ID)
				}
				v.stopped = true
			case mail.UpdateSpec:
				if v.stopped || !msg.Spec.IsSameBrowser(v.spec) || msg.Spec.QueueTimeoutS != nil {
					s.Fatalf("%s keeps its supervisor for %+v", e.ID, msg.Spec)
				}
			}
		case registry.Forget:
			if s.live[e.ID] != nil {
				s.Fatalf("%s runs and is forgotten", e.ID)
			}
			delete(s.boards, e.ID)
		case registry.Admit:
			calls.Answer(e.To, nil, nil)
		case registry.Wake:
			s.wake = e.At
		case registry.Answer:
			calls.Answer(e.To, e.Value, e.Err)
		}
	}
	s.leaving = ""
	s.check()
}

// spawn checks that no task is started that has no place, or was overtaken.
func (s *model) spawn(in any, e registry.SpawnSupervisor) {
	if s.live[e.ID] != nil {
		s.Fatalf("%T starts a second supervisor of %s", in, e.ID)
	}
	if err := e.Spec.Validate(); err != nil || e.Spec.Scope == "" || e.Spec.QueueTimeoutS != nil {
		s.Fatalf("started with spec %+v: %v", e.Spec, err)
	}
	launch := e.Spec.Launch != nil
	if e.ID != s.leaving { // else it has the place of the one before
		if len(s.live) >= s.limits.MaxTasks || s.shut || s.draining || launch && s.launched() >= s.limits.MaxBrowsers {
			s.Fatalf("%s is started: %d of %d run, %d of %d launched, memory short %v, draining %v", e.ID,
				len(s.live), s.limits.MaxTasks, s.launched(), s.limits.MaxBrowsers, s.shut, s.draining)
		}
		for _, w := range s.queue {
			if w.id == e.ID {
				break
			}
			if w.launch == launch {
				s.Fatalf("%s is started before %s, which waits for longer", e.ID, w.id)
			}
		}
	}
	s.live[e.ID] = &supervisor{gen: e.Gen, spec: *e.Spec}
	s.boards[e.ID] = true
	if len(s.live) > s.most.MaxTasks || s.launched() > s.most.MaxBrowsers {
		s.Fatalf("%d tasks run, %d launched", len(s.live), s.launched())
	}
	s.queue = slices.DeleteFunc(s.queue, func(w *waiting) bool { return w.id == e.ID })
}

func (s *model) launched() (n int) {
	for _, v := range s.live {
		if v.spec.Launch != nil {
			n++
		}
	}
	return n
}

// check compares the machine's account with ours.
func (s *model) check() {
	st := s.m.Status(s.now)
	if s.m.Running() != len(s.live) || st.Running != len(s.live) {
		s.Fatalf("%d tasks run, %d supervisors live", s.m.Running(), len(s.live))
	}
	if st.Browsers < s.launched() || st.Browsers > s.most.MaxBrowsers {
		s.Fatalf("%d browsers' places for %d that live", st.Browsers, s.launched())
	}
	if st.Queued != len(s.queue) {
		s.Fatalf("%d wait, want %d", st.Queued, len(s.queue))
	}
	tenant := 0
	for id := range s.live {
		if id.Tenant() == "x" {
			tenant++
		}
	}
	for _, w := range s.queue {
		if w.id.Tenant() == "x" {
			tenant++
		}
	}
	if tenant > quota {
		s.Fatalf("a tenant has %d tasks", tenant)
	}
	// No start waits without a lack.
	for _, w := range s.queue {
		if st.Running < s.limits.MaxTasks && !s.shut && (!w.launch || st.Browsers < s.limits.MaxBrowsers) {
			s.Fatalf("%s waits and lacks nothing", w.id)
		}
		for _, c := range w.callers {
			if s.wake.IsZero() || s.wake.After(c.deadline) {
				s.Fatalf("%s is not looked at when its time has come", w.id)
			}
		}
	}
}

func (s *model) reply() mail.Call {
	n := s.asked
	s.asked++
	return calls.Open(func(v any, err error) {
		if s.replies[n]++; s.replies[n] > 1 {
			s.Fatalf("order %d is answered %d times", n, s.replies[n])
		}
		if _, ok := v.(mail.StartOutcome); ok && !s.admitted[n] {
			s.Fatalf("order %d has started and was not admitted", n)
		}
		for _, w := range s.queue {
			w.callers = slices.DeleteFunc(w.callers, func(c waitingCaller) bool { return c.order == n })
		}
		s.queue = slices.DeleteFunc(s.queue, func(w *waiting) bool { return len(w.callers) == 0 })
	})
}

// start asks for a task; a caller that is neither admitted nor answered waits.
func (s *model) start(id messages.TaskID, spec messages.TaskSpec) {
	n := s.asked
	patience := s.limits.QueueTimeout
	if q := spec.QueueTimeoutS; q != nil {
		patience = min(patience, time.Duration(*q)*time.Second)
	}
	c := waitingCaller{n, s.now.Add(patience)}
	order := mail.StartTask{
		ID: id, Spec: spec, Ticket: uint64(n), Reply: s.reply(),
		Admitted: calls.Open(func(any, error) {
			if s.admitted[n] {
				s.Fatalf("order %d is admitted twice", n)
			}
			s.admitted[n] = true
		}),
	}
	// Until the step tells otherwise it waits, as the last of the queue or with
	// those who want the same task.
	was := slices.Clone(s.queue)
	at := slices.IndexFunc(s.queue, func(w *waiting) bool { return w.id == id })
	kind := false
	if at < 0 {
		s.queue = append(s.queue, &waiting{id: id, launch: spec.Launch != nil, callers: []waitingCaller{c}})
	} else {
		kind = s.queue[at].launch
		s.queue[at].callers = append(s.queue[at].callers, c)
		s.queue[at].launch = spec.Launch != nil
	}
	if s.live[id] != nil {
		s.queue = was // it never waits
	}
	if at >= 0 && patience == 0 {
		s.queue[at].launch = kind // it changes nothing, unless it is let in, which it is not
	}
	s.step(order)
	if s.live[id] != nil && s.replies[n] == 0 && !s.admitted[n] {
		s.Fatalf("order %d for %s, which runs, waits", n, id)
	}
}

func (s *model) exit(id messages.TaskID, err error) {
	gen := s.live[id].gen
	delete(s.live, id)
	s.leaving = id
	s.step(registry.SupervisorExited{ID: id, Gen: gen, Err: err})
}

func (s *model) setLimits(l messages.Limits) {
	s.limits = l
	s.most.MaxTasks, s.most.MaxBrowsers = max(s.most.MaxTasks, l.MaxTasks), max(s.most.MaxBrowsers, l.MaxBrowsers)
	s.step(registry.SetLimits{Limits: l})
}

func TestRegistryHoldsItsInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limits := messages.Limits{
			MaxTasks: 3, MaxTenantTasks: quota, MaxBrowsers: 1, QueueLength: 2, QueueTimeout: 30 * time.Second, MemoryHigh: 0.9, MemoryLow: 0.8,
		}
		s := &model{
			T: t, m: registry.NewMachine(limits, messages.CDPURL{}), now: time.Unix(1000, 0), limits: limits, most: limits,
			live: map[messages.TaskID]*supervisor{}, boards: map[messages.TaskID]bool{},
			replies: map[int]int{}, admitted: map[int]bool{},
		}
		id := func() messages.TaskID {
			return rapid.SampledFrom([]messages.TaskID{"a", "b", "c", "x:1", "x:2", "x:3"}).Draw(t, "id")
		}
		spec := func() messages.TaskSpec {
			spec := messages.TaskSpec{IdleTimeoutS: 60}
			if wait := rapid.IntRange(-1, 40).Draw(t, "wait"); wait >= 0 {
				q := float64(wait / 10 * 10)
				spec.QueueTimeoutS = &q
			}
			port := rapid.IntRange(0, 2).Draw(t, "port")
			if port == 0 {
				spec.Launch = &messages.LaunchSpec{}
				return spec
			}
			u, err := messages.ParseCDPURL(fmt.Sprintf("ws://127.0.0.1:%d/", port))
			if err != nil {
				t.Fatal(err)
			}
			spec.CDPURL = u
			return spec
		}
		living := func() []messages.TaskID {
			var ids []messages.TaskID
			for id := range s.live {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			return ids
		}
		start := func(*rapid.T) { s.start(id(), spec()) }
		exit := func(t *rapid.T) {
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
		}
		t.Repeat(map[string]func(*rapid.T){
			"start":       start,
			"start again": start, // as likely as all that makes room
			"stop": func(*rapid.T) {
				before := s.asked
				i := id()
				s.step(mail.StopTask{ID: i, Reply: s.reply()})
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
				s.step(mail.TaskActive{ID: i, Gen: gen})
			},
			"exit": exit,
			"exit of one that is gone": func(t *rapid.T) {
				i := id()
				if v := s.live[i]; v != nil {
					s.step(registry.SupervisorExited{ID: i, Gen: v.gen - 1})
				} else {
					s.step(registry.SupervisorExited{ID: i, Gen: 1})
				}
			},
			"a caller goes away": func(t *rapid.T) {
				s.step(mail.AbandonStart{ID: id(), Ticket: uint64(rapid.IntRange(0, s.asked).Draw(t, "ticket"))})
			},
			"time passes": func(t *rapid.T) {
				s.now = s.now.Add(time.Duration(rapid.IntRange(1, 15).Draw(t, "seconds")) * time.Second)
				if s.wake.IsZero() || s.wake.After(s.now) {
					return
				}
				s.wake = time.Time{}
				// Before the step, as check reads it: their deadlines have passed.
				s.step(registry.QueueDue{})
			},
			"new limits": func(t *rapid.T) {
				l := s.limits
				l.MaxTasks, l.MaxBrowsers = rapid.IntRange(1, 4).Draw(t, "tasks"), rapid.IntRange(1, 2).Draw(t, "browsers")
				l.QueueLength = rapid.SampledFrom([]int{-1, 1, 3}).Draw(t, "length")
				s.setLimits(l)
			},
			"memory": func(t *rapid.T) {
				used := rapid.SampledFrom([]float64{0.5, 0.85, 0.95}).Draw(t, "used")
				s.shut = used >= 0.9 || s.shut && used > 0.8
				s.step(registry.Measured{Sample: pressure.Sample{Memory: pressure.Level{Used: used}}})
			},
			"drain": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") != 0 {
					return
				}
				s.draining = true
				s.step(registry.Drain{})
				if len(s.queue) != 0 {
					s.Fatalf("%d wait for a node that drains", len(s.queue))
				}
			},
			"sweep": func(t *rapid.T) {
				s.now = s.now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "seconds")) * time.Second)
				s.step(registry.Sweep{IdleFor: func(id messages.TaskID) time.Duration {
					if s.live[id] == nil {
						s.Fatalf("%s does not run and is looked at", id)
					}
					return time.Duration(rapid.IntRange(0, 120).Draw(t, "idle")) * time.Second
				}})
			},
		})
		// Every task ends. A waiting one starts, and a supervisor that follows another
		// ends as well.
		s.shut = false
		s.step(registry.Measured{Sample: pressure.Sample{}})
		for range 2 * 6 {
			for _, i := range living() {
				s.exit(i, nil)
			}
		}
		if st := s.m.Status(s.now); len(s.live) != 0 || st.Browsers != 0 || st.Running != 0 || st.Queued != 0 {
			s.Fatalf("left: %v, %+v", living(), st)
		}
		for n := range s.asked {
			if s.replies[n] != 1 {
				s.Fatalf("order %d has %d answers", n, s.replies[n])
			}
		}
	})
}
