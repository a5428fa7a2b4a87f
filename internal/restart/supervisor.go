package restart

import (
	"slices"
	"time"
)

// Phase is where a child is in its life.
type Phase uint8

// The phases of a child.
const (
	// Idle children do not run and nothing will start them but Start, Add or
	// a sibling's round: not started yet, or ended normally (transient).
	Idle Phase = iota
	// Running children have been started and have not exited.
	Running
	// Stopping children have been sent a Stop and have not exited.
	Stopping
	// Down children will be started by the round in progress.
	Down
)

// String returns the phase's name.
func (p Phase) String() string {
	return [...]string{"idle", "running", "stopping", "down"}[p&3]
}

type child struct {
	spec    Child
	phase   Phase
	gen     uint64 // of the last Start, 0 before the first
	row     row    // of its exits
	isAgain bool   // stopping: becomes Down at its exit, else it is forgotten
	isTied  bool   // stopping: the round in progress waits for its exit
	round   *round // its own, where one is in progress; with one_for_one alone
}

// row is what a child's exits since its last Ready add up to.
type row struct {
	isReady  bool      // the live generation has been Ready: its exit begins a row
	exits    int       // each lengthens the backoff
	failures int       // those that count for MaxConsecutive
	since    time.Time // the first exit
}

// add takes a restart-worthy exit.
func (r *row) add(now time.Time, isExcused bool) {
	if r.exits == 0 {
		r.since = now
	}
	r.exits++
	if !r.isReady && !isExcused {
		r.failures++
	}
	r.isReady = false
}

// round is a restart in progress: what is to be started when.
type round struct {
	owner     *child // with one_for_one; nil: all children that are Down
	notBefore time.Time
	token     uint64 // of the Wait under way, 0 if there is none
}

// clear ends the round.
func (r *round) clear() {
	r.notBefore, r.token = time.Time{}, 0
	if r.owner != nil {
		r.owner.round = nil
	}
}

// Supervisor is the restart machine of one set of children. It is not safe
// for concurrent use.
type Supervisor struct {
	policy   Policy
	children []*child          // in start order
	byID     map[string]*child // nil while there are few
	shared   *round            // of one_for_all and rest_for_one; nil with one_for_one
	restarts window

	lastGen   uint64
	lastToken uint64

	hasStarted bool
	isEnding   bool    // nothing is started any more
	gaveUp     *GiveUp // to be emitted when the last child has exited
	isAsked    bool    // Shutdown was asked for and Done not emitted yet
	isDone     bool
}

// New returns a supervisor that has started nothing yet. Of children with the
// same ID the first counts. The policy should be valid (see
// [Policy.Validate]).
func New(p Policy, children ...Child) *Supervisor {
	s := &Supervisor{policy: p}
	if p.Strategy != OneForOne {
		s.shared = new(round)
	}
	for _, c := range children {
		if s.child(c.ID) == nil {
			s.insert(c)
		}
	}
	return s
}

// Start starts all children left to right. Only the first call does anything.
func (s *Supervisor) Start() []Action {
	if s.hasStarted || s.isEnding {
		return nil
	}
	s.hasStarted = true
	var out []Action
	for _, c := range s.children {
		out = s.start(out, c)
	}
	return out
}

// Step feeds one event in and returns what is to be done about it. The time
// must not run backwards.
func (s *Supervisor) Step(now time.Time, ev Event) []Action {
	switch ev := ev.(type) {
	case Exited:
		if c := s.current(ev.ID, ev.Gen); c != nil {
			return s.handleExited(now, c, ev)
		}
	case Ready:
		if c := s.current(ev.ID, ev.Gen); c != nil {
			c.row = row{isReady: true}
		}
	case Due:
		return s.handleDue(now, ev.Token)
	case Add:
		return s.handleAdd(now, ev.Child)
	case Remove:
		return s.handleRemove(now, ev.ID)
	case SetPatience:
		if c := s.child(ev.ID); c != nil {
			c.spec.Patience = ev.Patience
		}
	case Shutdown:
		return s.handleShutdown()
	}
	return nil
}

// current returns the child if gen is its live generation, else nil. Here,
// and only here, late events of an earlier generation are dropped.
func (s *Supervisor) current(id string, gen uint64) *child {
	c := s.child(id)
	if c == nil || c.gen != gen || c.phase != Running && c.phase != Stopping {
		return nil
	}
	return c
}

func (s *Supervisor) handleExited(now time.Time, c *child, ev Exited) []Action {
	switch {
	case s.isEnding:
		c.phase = Idle
		return s.maybeEnd(nil)
	case c.phase == Stopping && c.isAgain:
		c.phase = Down
		return s.maybeStartRound(nil, now, s.round(c))
	case c.phase == Stopping, c.spec.Type == Temporary:
		s.forget(c)
		// It may have been the last exit the round of its siblings waited for.
		return s.maybeStartRound(nil, now, s.round(c))
	case c.spec.Type == Transient && !ev.IsAbnormal:
		c.phase = Idle
		return nil
	default:
		return s.handleFailed(now, c, ev)
	}
}

// handleFailed takes a restart-worthy exit: it spends the budget and opens a
// round, or gives up.
func (s *Supervisor) handleFailed(now time.Time, c *child, ev Exited) []Action {
	c.row.add(now, ev.IsExcused)
	c.phase = Down
	if s.isSpent(now, c, ev.IsExcused) {
		s.gaveUp = &GiveUp{ID: c.spec.ID, Failures: c.row.failures, For: now.Sub(c.row.since)}
		return s.becomeEnding(nil)
	}
	r := s.round(c)
	if at := now.Add(s.policy.Backoff.Delay(c.row.exits, ev.Roll)); at.After(r.notBefore) {
		r.notBefore = at
		r.token = 0 // a Wait under way is too short now
	}
	out := s.stopTied(nil, c)
	return s.maybeStartRound(out, now, r)
}

// isSpent says whether the newest exit of c is one too many for either limit.
func (s *Supervisor) isSpent(now time.Time, c *child, isExcused bool) bool {
	if isExcused {
		return false
	}
	if s.restarts.isExceeded(now, s.policy.Intensity, s.policy.Period) {
		return true
	}
	return s.policy.MaxConsecutive > 0 && c.row.failures >= s.policy.MaxConsecutive && now.Sub(c.row.since) >= c.spec.Patience
}

// stopTied stops, right to left, those that the strategy ties to c.
func (s *Supervisor) stopTied(out []Action, c *child) []Action {
	var tied []*child
	switch s.policy.Strategy {
	case OneForAll:
		tied = s.children
	case RestForOne:
		tied = s.children[slices.Index(s.children, c)+1:]
	}
	for _, t := range slices.Backward(slices.Clone(tied)) {
		switch {
		case t.phase == Running:
			out = s.stop(out, t, t.spec.Type != Temporary)
			t.isTied = true
		case t.phase == Stopping:
			t.isTied = true
		case t.phase == Idle && t.spec.Type == Temporary:
			s.forget(t)
		case t.phase == Idle:
			t.phase = Down
		}
	}
	return out
}

// maybeStartRound starts the children of r in order if nothing that r waits
// for is left, and arms the Wait if only the backoff is.
func (s *Supervisor) maybeStartRound(out []Action, now time.Time, r *round) []Action {
	down, settled := s.members(r)
	if !settled {
		return out
	}
	if len(down) == 0 {
		r.clear()
		return out
	}
	if wait := r.notBefore.Sub(now); wait > 0 {
		if r.token == 0 {
			s.lastToken++
			r.token = s.lastToken
			out = append(out, Wait{Token: r.token, Delay: wait})
		}
		return out
	}
	r.clear()
	for _, c := range down {
		out = s.start(out, c)
	}
	return out
}

// members returns the children r has to start, in order, and whether all that
// were stopped for it have exited.
func (s *Supervisor) members(r *round) (down []*child, settled bool) {
	if r.owner != nil {
		if r.owner.phase == Down {
			down = append(down, r.owner)
		}
		return down, true
	}
	for _, c := range s.children {
		switch {
		case c.phase == Stopping && c.isTied:
			return nil, false
		case c.phase == Down:
			down = append(down, c)
		}
	}
	return down, true
}

func (s *Supervisor) handleDue(now time.Time, token uint64) []Action {
	if token == 0 || s.isEnding {
		return nil
	}
	r := s.roundOf(token)
	if r == nil {
		return nil
	}
	// The caller's timer decides, should its clock differ by a tick.
	r.clear()
	return s.maybeStartRound(nil, now, r)
}

// roundOf returns the round whose Wait has the token. Dues of rounds that were
// overtaken are dropped here.
func (s *Supervisor) roundOf(token uint64) *round {
	if s.shared != nil {
		if s.shared.token == token {
			return s.shared
		}
		return nil
	}
	for _, c := range s.children {
		if c.round != nil && c.round.token == token {
			return c.round
		}
	}
	return nil
}

func (s *Supervisor) handleAdd(now time.Time, spec Child) []Action {
	if s.isEnding {
		return nil
	}
	c := s.child(spec.ID)
	switch {
	case c == nil:
		c = s.insert(spec)
	case c.phase == Idle:
		c.spec = spec
	case c.phase == Stopping && !c.isAgain:
		// It was to be forgotten; it comes back as a new child would.
		c.spec, c.isAgain, c.row = spec, true, row{}
		s.moveToEnd(c)
		return nil
	default:
		return nil
	}
	if !s.hasStarted {
		return nil
	}
	c.phase = Down
	return s.maybeStartRound(nil, now, s.round(c))
}

func (s *Supervisor) handleRemove(now time.Time, id string) []Action {
	c := s.child(id)
	switch {
	case c == nil || s.isEnding:
		return nil
	case c.phase == Running:
		return s.stop(nil, c, false)
	case c.phase == Stopping:
		c.isAgain = false
		return nil
	default:
		s.forget(c)
		return s.maybeStartRound(nil, now, s.round(c))
	}
}

func (s *Supervisor) handleShutdown() []Action {
	if s.isDone || s.isAsked {
		return nil
	}
	s.isAsked = true
	if s.isEnding {
		return s.maybeEnd(nil)
	}
	return s.becomeEnding(nil)
}

// becomeEnding stops everything right to left; nothing is started any more.
func (s *Supervisor) becomeEnding(out []Action) []Action {
	s.isEnding = true
	for _, c := range slices.Backward(s.children) {
		switch c.phase {
		case Running:
			out = s.stop(out, c, false)
		case Down:
			c.phase = Idle
		}
	}
	return s.maybeEnd(out)
}

// maybeEnd says what is to be said once every child has exited.
func (s *Supervisor) maybeEnd(out []Action) []Action {
	for _, c := range s.children {
		if c.phase == Running || c.phase == Stopping {
			return out
		}
	}
	if s.gaveUp != nil {
		out = append(out, *s.gaveUp)
		s.gaveUp = nil
	}
	if s.isAsked {
		out = append(out, Done{})
		s.isAsked, s.isDone = false, true
	}
	return out
}

func (s *Supervisor) start(out []Action, c *child) []Action {
	s.lastGen++
	c.gen, c.phase, c.row.isReady = s.lastGen, Running, false
	return append(out, Start{ID: c.spec.ID, Gen: c.gen})
}

func (s *Supervisor) stop(out []Action, c *child, again bool) []Action {
	c.phase, c.isAgain, c.isTied = Stopping, again, false
	return append(out, Stop{ID: c.spec.ID, Gen: c.gen})
}

func (s *Supervisor) insert(spec Child) *child {
	c := &child{spec: spec}
	s.children = append(s.children, c)
	switch {
	case s.byID != nil:
		s.byID[spec.ID] = c
	case len(s.children) > fewChildren:
		s.byID = make(map[string]*child, 2*fewChildren)
		for _, c := range s.children {
			s.byID[c.spec.ID] = c
		}
	}
	return c
}

// fewChildren are looked through faster than hashed.
const fewChildren = 8

func (s *Supervisor) child(id string) *child {
	if s.byID != nil {
		return s.byID[id]
	}
	for _, c := range s.children {
		if c.spec.ID == id {
			return c
		}
	}
	return nil
}

// round is the one that a child is started in.
func (s *Supervisor) round(c *child) *round {
	if s.shared != nil {
		return s.shared
	}
	if c.round == nil {
		c.round = &round{owner: c}
	}
	return c.round
}

func (s *Supervisor) moveToEnd(c *child) {
	i := slices.Index(s.children, c)
	s.children = append(slices.Delete(s.children, i, i+1), c)
}

func (s *Supervisor) forget(c *child) {
	i := slices.Index(s.children, c)
	s.children = slices.Delete(s.children, i, i+1)
	delete(s.byID, c.spec.ID)
	c.phase = Idle // so that its round no longer starts it
}
