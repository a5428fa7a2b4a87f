package wanted

import (
	"slices"
	"strings"
)

// maxUndo bounds the agents' commands that are sent once more, see Behind.
const maxUndo = 16

// doesVanish says whether Chrome drops the setting from the page with the end of any
// session that had set it, or of any at all (C61): it is then set for no session.
func (i *item) doesVanish() bool {
	for _, prefix := range []string{"Emulation.", "UserAgentOverride", "DeviceOrientation", "Network.emulate", "Network.overrideNetworkState"} {
		if strings.HasPrefix(i.key, prefix) {
			return true
		}
	}
	return false
}

func (i *item) isSetting() bool { return i.act == set || i.act == enable }

// Again returns what a session is to be given once more, in order, and expects the
// outcome of each: what vanishes, which an old session's late end may have dropped,
// and what was refused or did not fit before.
func (s *State) Again(p Place) []Command {
	t := s.target(p.Target)
	if t == nil || !t.isSame(p) {
		return nil
	}
	var due []*item
	for _, i := range t.kept {
		given := i.isSet || i.isRefused
		if !i.isPending && i.doesFit(p) && (!given || i.isSetting() && (i.isRefused || i.doesVanish())) {
			due = append(due, i)
		}
	}
	return s.attempt(t, due)
}

const headersMethod = "Network.setExtraHTTPHeaders"

// Leaving returns what takes a frame's headers back from the document of another site,
// which the frame shows on the same session: Chrome keeps them there. They are given
// again with a document of their own site.
func (s *State) Leaving(p Place) (commands []Command) {
	t := s.target(p.Target)
	if t == nil || !t.isSame(p) {
		return nil
	}
	for _, i := range t.kept {
		if i.method == headersMethod && (i.isSet || i.isPending) && !i.doesFit(p) {
			i.isSet, i.isPending, i.isRefused = false, false, false
			commands = append(commands, Command{Method: headersMethod, Params: []byte(`{"headers":{}}`)})
		}
	}
	return commands
}

// Behind returns what an agent has set, or removed, while an older setting was being sent
// to the session. That setting may have arrived after it.
func (s *State) Behind(p Place) []Command {
	t := s.target(p.Target)
	if t == nil || !t.isSame(p) {
		return nil
	}
	var due []*item
	for _, i := range t.kept {
		if i.isOvertaken && i.doesFit(p) {
			i.isOvertaken = false
			due = append(due, i)
		}
	}
	undo := t.undo
	t.undo = nil
	return append(undo, s.attempt(t, due)...)
}

// Refused are the methods whose settings the session does not have, sorted: it was
// given them and did not take them.
func (s *State) Refused(p Place) []string {
	t := s.target(p.Target)
	if t == nil || !t.isSame(p) {
		return nil
	}
	var methods []string
	for _, i := range t.kept {
		if i.isSetting() && i.isRefused && i.doesFit(p) {
			methods = append(methods, i.method)
		}
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// replace drops the items that a command of an agent replaces or takes back. Under says
// that one of them was under way, resolved that one had been refused.
func (t *target) replace(which func(*item) bool) (under, resolved bool) {
	t.drop(func(i *item) bool {
		if !which(i) {
			return false
		}
		under, resolved = under || i.isPending, resolved || i.isRefused
		return true
	})
	return under, resolved
}

// takenBack notes a command that took back what was under way.
func (t *target) takenBack(method string, params []byte) {
	if len(t.undo) < maxUndo {
		t.undo = append(t.undo, Command{Method: method, Params: slices.Clone(params)})
	}
}
