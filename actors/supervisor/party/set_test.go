package party_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"holdfast/actors/supervisor/party"
	"holdfast/messages"
)

// TestAPageIsTouchedOnceEveryPartyHasLeft plays three parties that come, go, cover pages and
// leave them in any order, against a naive account of who is attached to what. What was to
// be done to a page is done once, in order, and never while a party is attached to it.
func TestAPageIsTouchedOnceEveryPartyHasLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s party.Set[string]
		ids := []party.ID{party.Anchor, party.Clients, party.Standby("b"), "fourth"}
		pages := []messages.TargetID{"P", "Q"}
		attached := map[party.ID]map[messages.TargetID]bool{} // of each party that is there
		asked := map[party.ID][]messages.TargetID{}           // and has not answered
		waits := map[messages.TargetID][]string{}
		n := 0
		done := func(effects []string) {
			for _, e := range effects {
				page := messages.TargetID(e[:1])
				if len(waits[page]) == 0 || waits[page][0] != e {
					t.Fatalf("%s is done, while %v waits", e, waits[page])
				}
				waits[page] = waits[page][1:]
				for id, on := range attached {
					if on[page] {
						t.Fatalf("%s is done while %s is attached", e, id)
					}
				}
			}
		}
		left := func(id party.ID, page messages.TargetID) {
			delete(attached[id], page)
			asked[id] = slices.DeleteFunc(asked[id], func(p messages.TargetID) bool { return p == page })
			done(s.Left(id, page))
		}
		id := func() party.ID { return rapid.SampledFrom(ids).Draw(t, "party") }
		page := func() messages.TargetID { return rapid.SampledFrom(pages).Draw(t, "page") }
		t.Repeat(map[string]func(*rapid.T){
			"join": func(*rapid.T) {
				if i := id(); attached[i] == nil {
					s.Join(i)
					attached[i] = map[messages.TargetID]bool{}
				}
			},
			"cover": func(*rapid.T) {
				i, p := id(), page()
				if attached[i] == nil || slices.Contains(asked[i], p) || s.IsLeaving(p) {
					return // it keeps away
				}
				attached[i][p] = true
				s.Cover(i, p)
			},
			"be torn from": func(*rapid.T) {
				i, p := id(), page()
				delete(attached[i], p)
				s.Uncover(i, p)
			},
			"leave": func(*rapid.T) {
				p := page()
				n++
				do := fmt.Sprintf("%s %d", p, n)
				before := s.IsLeaving(p)
				ask, ok := s.Leave(p, do)
				waits[p] = append(waits[p], do)
				if ok {
					done([]string{do})
				}
				if before && len(ask) > 0 || !before && len(ask) != len(attached) || ok != (!before && len(attached) == 0) {
					t.Fatalf("asks %v, at once %v, with %d parties", ask, ok, len(attached))
				}
				for _, i := range ask {
					asked[i] = append(asked[i], p)
				}
			},
			"answer": func(*rapid.T) {
				if i := id(); len(asked[i]) > 0 {
					left(i, asked[i][0])
				}
			},
			"go": func(*rapid.T) {
				i := id()
				if attached[i] == nil {
					return
				}
				delete(attached, i)
				delete(asked, i)
				done(s.Gone(i))
			},
			"": func(*rapid.T) {
				for _, p := range pages {
					parties, all := 0, true
					for id, on := range attached {
						if id != party.Clients && id != party.Standby("b") {
							parties++
							all = all && on[p]
						}
					}
					all = all && parties > 0
					if s.IsCovered(p) != all {
						t.Fatalf("page %s: covered by all is %v, attached %v", p, s.IsCovered(p), attached)
					}
					if s.IsLeaving(p) != (len(waits[p]) > 0) {
						t.Fatalf("page %s: leaving is %v, %v waits", p, s.IsLeaving(p), waits[p])
					}
				}
			},
		})
		for i := range attached {
			for len(asked[i]) > 0 {
				left(i, asked[i][0])
			}
		}
		for _, p := range pages {
			if len(waits[p]) > 0 {
				t.Fatalf("%v is never done", waits[p])
			}
		}
	})
}

// TestAPageThatIsNotLeft is what a party costs that does not answer: a moment.
func TestAPageThatIsNotLeft(t *testing.T) {
	t.Parallel()
	var s party.Set[string]
	for _, id := range []party.ID{"client/2", party.Anchor, "client/1"} {
		s.Join(id)
	}
	if ask, ok := s.Leave("P", "release"); ok || !slices.Equal(ask, []party.ID{"anchor", "client/1", "client/2"}) {
		t.Fatalf("asks %v", ask)
	}
	s.Left("client/1", "P")
	if done := s.GiveUp("P"); !slices.Equal(done, []string{"release"}) {
		t.Errorf("given up, it does %v", done)
	}
	if done := s.Left(party.Anchor, "P"); done != nil {
		t.Errorf("it does %v again", done)
	}
	if done := s.GiveUp("P"); done != nil || s.IsLeaving("P") {
		t.Errorf("it does %v again", done)
	}
}

// TestSomeMayStay: what is done does not wait for a party that may stay, and the next one that
// needs all to leave asks it then.
func TestSomeMayStay(t *testing.T) {
	t.Parallel()
	var s party.Set[string]
	s.Join(party.Clients)
	if ask, ok := s.Leave("P", "close", party.Clients); !ok || ask != nil {
		t.Fatalf("alone it is asked: %v", ask)
	}
	s.Join(party.Anchor)
	if ask, ok := s.Leave("P", "close", party.Clients); ok || !slices.Equal(ask, []party.ID{party.Anchor}) {
		t.Fatalf("asks %v", ask)
	}
	if ask, ok := s.Leave("P", "release"); ok || !slices.Equal(ask, []party.ID{party.Clients}) {
		t.Fatalf("then asks %v", ask)
	}
	if done := s.Left(party.Anchor, "P"); done != nil {
		t.Errorf("before the clients have left it does %v", done)
	}
	if done := s.Left(party.Clients, "P"); !slices.Equal(done, []string{"close", "release"}) {
		t.Errorf("it does %v", done)
	}
}
