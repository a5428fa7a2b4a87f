package voter

import (
	"strings"
	"testing"
)

// TestAVoterWithoutData begins a store only where no other voter can have one, and never starts
// where the store knows it already.
func TestAVoterWithoutData(t *testing.T) {
	t.Parallel()
	c := Config{Name: "c", Dir: "/dir", Voters: map[string]string{"a": "h:1", "b": "h:4", "c": "h:7"}}
	blank, founding, founded := Standing{State: Blank}, Standing{State: Founding}, Standing{State: Founded}
	list := func(own ...Member) Standing {
		return Standing{State: Founded, Members: append([]Member{{Name: "a", Address: "h:1", IsStarted: true}, {Name: "b", Address: "h:4", IsStarted: true}}, own...)}
	}
	for name, test := range map[string]struct {
		said map[string]Standing
		want string
	}{
		"all are new":                      {map[string]Standing{"a": blank, "b": blank}, "found"},
		"one has begun":                    {map[string]Standing{"a": founding, "b": blank}, "found"},
		"one is silent":                    {map[string]Standing{"a": blank}, "wait: not all voters say whether this one is new: no answer from b"},
		"all are silent":                   {nil, "wait: not all voters say whether this one is new: no answer from a, b"},
		"one has a store and no quorum":    {map[string]Standing{"a": founded, "b": blank}, "wait: no quorum says whether this voter is new: a has none"},
		"the store never saw it":           {map[string]Standing{"a": list(Member{Address: "h:7"})}, "join: a, b, c"},
		"its place is free":                {map[string]Standing{"a": list(Member{Address: "h:7", IsLearner: true}), "b": founding}, "join: a, b, c"},
		"the store knows it":               {map[string]Standing{"a": founding, "b": list(Member{Name: "c", Address: "h:7", IsStarted: true})}, "refuse: the store has a voter c already, and here is nothing of it"},
		"the store has no such voter":      {map[string]Standing{"a": list()}, "refuse: c is no voter of the store"},
		"the store knows it, one is blank": {map[string]Standing{"a": blank, "b": list(Member{Name: "c", Address: "h:7", IsStarted: true})}, "refuse: the store has a voter c"},
	} {
		v := judge(c, test.said)
		got := "found"
		switch {
		case v.wait != "":
			got = "wait: " + v.wait
		case v.refusal != "":
			got = "refuse: " + v.refusal
		case v.join != nil:
			got = "join: " + names(v.join)
		case !v.isFounder:
			got = "nothing"
		}
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
