package voter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// State says what a voter has of the store.
type State string

// States of a voter.
const (
	// Blank means that it has nothing: it was never started, or its data is lost.
	Blank State = "blank"
	// Founding means that it has begun a store with others and that none of them was ready yet,
	// as far as it knows.
	Founding State = "founding"
	// Founded means that it has been part of a quorum.
	Founded State = "founded"
)

// Member is one voter, as the store itself lists it.
type Member struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	// IsStarted says that it has been part of a quorum once.
	IsStarted bool `json:"started"`
	// IsLearner says that it has no vote yet: it is copying.
	IsLearner bool `json:"learner,omitempty"`
}

// Standing is what a voter tells one that has no data, which may be new, or may have lost it.
type Standing struct {
	State State `json:"state"`
	// Members are those of the store where a quorum has just confirmed them.
	Members []Member `json:"members,omitempty"`
}

// verdict is what a voter without data is to do.
type verdict struct {
	isFounder bool              // begin a store with the others of the static list
	join      map[string]string // copy the store of these
	refusal   string            // never start
	wait      string            // ask again
}

// judge says what a voter without data is to do, by what the others say of themselves. It
// begins a store only if every other one has nothing either: a quorum of them would not do,
// since the rest may have what these have lost.
func judge(c Config, said map[string]Standing) verdict {
	var silent, without []string
	for _, name := range sortedNames(c.Voters) {
		if name == c.Name {
			continue
		}
		s, hasSaid := said[name]
		switch {
		case !hasSaid:
			silent = append(silent, name)
		case len(s.Members) > 0:
			return compare(c, s.Members)
		case s.State == Founded:
			without = append(without, name)
		}
	}
	switch {
	case len(without) > 0:
		return verdict{wait: "no quorum says whether this voter is new: " + strings.Join(without, ", ") + " has none"}
	case len(silent) > 0:
		return verdict{wait: "not all voters say whether this one is new: no answer from " + strings.Join(silent, ", ")}
	}
	return verdict{isFounder: true}
}

// compare looks for a voter without data among the members of a store that others have.
func compare(c Config, members []Member) verdict {
	join := map[string]string{}
	var own *Member
	for i, m := range members {
		name := m.Name
		if m.Address == c.Voters[c.Name] {
			own, name = &members[i], c.Name
		} else if name == "" {
			name = m.Address
		}
		join[name] = m.Address
	}
	switch {
	case own == nil:
		return verdict{refusal: fmt.Sprintf("%s is no voter of the store that the others have", c.Name)}
	case own.IsStarted:
		return verdict{refusal: fmt.Sprintf("the store has a voter %s already, and here is nothing of it: its data is lost, and without it the voter could break its word", c.Name)}
	}
	return verdict{join: join}
}

// cure is what an operator does about a voter that does not start.
func cure(c Config) string {
	return fmt.Sprintf("run `holdfast cluster replace-voter %s` against a node that runs, delete %s, and start this node again", c.Name, c.Dir)
}

// names are those of a map, for messages.
func names(m map[string]string) string { return strings.Join(slices.Sorted(maps.Keys(m)), ", ") }
