package wanted

import (
	"slices"
	"strconv"
	"strings"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// Place is a session, and what it is a session of.
type Place struct {
	Page    messages.TargetID // the tab; "" with Target is the browser itself
	Target  messages.TargetID // the tab, or a frame of it that has a session of its own
	Session messages.SessionID
	Link    mail.Generation // of the browser's own session, which has no id
	Site    *Site           // of a frame's document; nil elsewhere
}

// isSame says whether p and q are one session.
func (p Place) isSame(q Place) bool { return p.Session == q.Session && p.Link == q.Link }

// Command is something to be sent again. ID tells its outcome from that of
// others.
type Command struct {
	ID     uint64
	Method string
	Params []byte
}

// What a task may have remembered. An agent sets a dozen things; beyond this bound an agent
// uses the page's state as a store.
const (
	MaxCommands = 128     // of one target
	MaxBytes    = 1 << 20 // of one target
	maxTargets  = 8       // of a task, as full as the above
)

// State is what a task wants of its pages.
type State struct {
	targets []*target // the one that was set up last is the last
	seq     uint64
}

// target is a page, a frame, or the browser.
type target struct {
	Place           // with the newest session
	isLive  bool    // which has not ended
	kept    []*item // as they were set
	changes uint64  // to what is common
	script  uint64  // the highest identifier that was given to an agent
	chrome  uint64  // the highest that the browser has given, on this session
	undo    []Command
}

// item is one thing that is kept.
type item struct {
	key    string
	act    act
	method string
	params []byte
	script string // the agent's identifier of it
	site   string // that it belongs to, of a frame

	attempt   uint64 // of the command that is to set it on this session
	isPending bool   // and that command has no outcome
	isSet     bool   // it is set on this session
	isRefused bool   // this session did not take it

	isOvertaken bool   // an older one was under way when it was set
	chrome      string // the browser's identifier of the script there; until it says so, the next in its row
}

func (i *item) size() int { return len(i.key) + len(i.method) + len(i.params) }

func (s *State) target(t messages.TargetID) *target {
	for _, x := range s.targets {
		if x.Target == t {
			return x
		}
	}
	return nil
}

// Begin returns what a new session is to be given, in order, and expects the
// outcome of each (see Established). For a session that had it already there is
// nothing.
func (s *State) Begin(p Place) []Command {
	t := s.target(p.Target)
	if t == nil || t.isSame(p) {
		return nil
	}
	t.Place, t.isLive, t.chrome, t.undo = p, true, 0, nil
	var due []*item
	for _, i := range t.kept {
		i.isPending, i.isSet, i.isRefused, i.isOvertaken = false, false, false, false
		if i.doesFit(p) {
			due = append(due, i)
		}
	}
	return s.attempt(t, due)
}

// Revive gives the commands for the renderer that follows a crash on the same session: the
// browser restores what was in force, and what was being sent to the dead renderer failed.
// Of the failed commands, Chrome has the scripts all the same. They are removed by the
// numbers they must have there, or the page would run them twice.
func (s *State) Revive(p Place) []Command {
	t := s.target(p.Target)
	if t == nil || !t.isSame(p) {
		return nil
	}
	failed := slices.DeleteFunc(slices.Clone(t.kept), func(i *item) bool { return i.isSet || !i.doesFit(p) })
	var back []Command
	for _, i := range failed {
		if i.act == addScript && i.chrome != "" && !t.isSet(i.chrome) {
			back = append(back, Command{Method: removeMethod, Params: mustJSON(scriptIdentifier{i.chrome})})
		}
	}
	return append(back, s.attempt(t, failed)...)
}

func (t *target) isSet(chrome string) bool {
	return slices.ContainsFunc(t.kept, func(i *item) bool { return i.isSet && i.chrome == chrome })
}

func (s *State) attempt(t *target, items []*item) []Command {
	var commands []Command
	next := t.chrome
	for _, first := range []bool{true, false} {
		for _, i := range items {
			if (i.act == enable) != first {
				continue
			}
			s.seq++
			i.attempt, i.isPending, i.isSet = s.seq, true, false
			if i.act == addScript {
				next++
				i.chrome = strconv.FormatUint(next, 10)
			}
			commands = append(commands, Command{ID: i.attempt, Method: i.method, Params: i.params})
		}
	}
	return commands
}

// Established takes the outcome of a command that Begin or Revive returned.
func (s *State) Established(p Place, id uint64, result []byte, err error) {
	t := s.target(p.Target)
	if t == nil || !t.isSame(p) {
		return
	}
	for _, i := range t.kept {
		if i.attempt == id && i.isPending {
			i.isPending, i.isSet, i.isRefused = false, err == nil, err != nil
			if i.act == addScript && i.isSet {
				i.chrome = identifier(result)
				t.named(i.chrome)
			}
		}
	}
}

// End says that a session is over.
func (s *State) End(p Place) {
	if t := s.target(p.Target); t != nil && t.isSame(p) {
		t.isLive = false
	}
}

// Forget drops a page and its frames: it is closed.
func (s *State) Forget(page messages.TargetID) {
	s.targets = slices.DeleteFunc(s.targets, func(t *target) bool { return t.Page == page && t.Target != "" })
}

// Prepare says with which parameters a command of an agent is to be sent. An
// answer that is not nil is its result, and nothing is to be sent.
func (s *State) Prepare(p Place, method string, params []byte) (send, answer []byte, err error) {
	t := s.target(p.Target)
	if t != nil && !t.isSame(p) && len(t.kept) > 0 {
		// What is kept is sent with the attach. A later command must not be
		// overtaken by it.
		return nil, nil, notYet()
	}
	r, ok := ruleOf(method)
	if !ok || r.act != removeScript {
		return params, nil, nil
	}
	return t.prepareRemoval(p, params)
}

func notYet() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the page is being attached to again; try in a moment").WithSent(messages.SentNo)
}

// Succeeded takes what the browser answered to a command that Prepare had let
// through, with the parameters the agent gave. It returns the result for the
// agent, and whether what was set is remembered: without room it is not.
func (s *State) Succeeded(p Place, method string, params, result []byte) (forAgent []byte, remembered bool) {
	forAgent, remembered, _ = s.succeeded(p, method, params, result)
	return forAgent, remembered
}

// succeeded is Succeeded; resolved says that something had been refused before.
func (s *State) succeeded(p Place, method string, params, result []byte) (forAgent []byte, remembered, resolved bool) {
	r, ok := ruleOf(method)
	if !ok || isOfSession(method, params) {
		return result, true, false
	}
	t := s.target(p.Target)
	switch {
	case t == nil && (r.act == set || r.act == enable || r.act == addScript):
		t = &target{Place: p, isLive: true}
		s.targets = append(s.targets, t)
	case t == nil:
		return result, true, false
	case !t.isSame(p):
		// The session is newer than the one that is known: nothing was kept for
		// it, or Prepare would have refused.
		t.Place, t.isLive, t.chrome = p, true, 0
	}
	key := r.key(params)
	if common[key] || r.act == disable {
		t.changes++
	}
	switch r.act {
	case set, enable:
		under, resolved := t.replace(func(i *item) bool { return i.key == key })
		i := &item{key: key, act: r.act, method: method, params: slices.Clone(params), isSet: true, site: p.site(), isOvertaken: under}
		return result, s.keep(t, i), resolved
	case clear, disable:
		var under bool
		under, resolved = t.replace(func(i *item) bool {
			return i.key == key || r.act == disable && strings.HasPrefix(i.key, key+".")
		})
		if under {
			t.takenBack(method, params)
		}
	case resetPermissions:
		context := strings.TrimPrefix(key, r.slot)
		t.drop(func(i *item) bool {
			return strings.HasPrefix(i.key, permission+"\x00") && strings.HasSuffix(i.key, context)
		})
	case addScript:
		forAgent, remembered = s.scriptAdded(t, params, result)
		return forAgent, remembered, false
	case removeScript:
		given := identifier(params)
		t.drop(func(i *item) bool { return i.script != "" && i.script == given })
	}
	return result, true, resolved
}

func (t *target) drop(which func(*item) bool) { t.kept = slices.DeleteFunc(t.kept, which) }

// keep adds an item if there is room. Without it nothing else is forgotten for
// its sake: of what an agent set first, most still matters.
func (s *State) keep(t *target, i *item) bool {
	commands, bytes := t.used()
	if commands+1 > MaxCommands || bytes+i.size() > MaxBytes || !s.hasRoom(t, i) {
		return false
	}
	t.kept = append(t.kept, i)
	return true
}

// hasRoom says whether the task has room for i, once the frames that are gone have
// made what they can.
func (s *State) hasRoom(t *target, i *item) bool {
	for {
		commands, bytes := 1, i.size()
		for _, x := range s.targets {
			c, b := x.used()
			commands, bytes = commands+c, bytes+b
		}
		if commands <= maxTargets*MaxCommands && bytes <= maxTargets*MaxBytes {
			return true
		}
		gone := slices.IndexFunc(s.targets, func(x *target) bool { return x != t && !x.isLive && x.Target != x.Page })
		if gone < 0 {
			return false
		}
		s.targets = slices.Delete(s.targets, gone, gone+1)
	}
}

func (t *target) used() (commands, bytes int) {
	for _, i := range t.kept {
		bytes += i.size()
	}
	return len(t.kept), bytes
}
