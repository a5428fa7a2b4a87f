package smallmap_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"holdfast/internal/smallmap"
)

// TestMapIsAMap compares it with one of Go's, around the size where it becomes one.
func TestMapIsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var m smallmap.Map[int, string]
		model := map[int]string{}
		key := rapid.IntRange(0, 12)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k, v := key.Draw(t, "key"), rapid.String().Draw(t, "value")
				m.Set(k, v)
				model[k] = v
			},
			"delete": func(t *rapid.T) {
				k := key.Draw(t, "key")
				m.Delete(k)
				delete(model, k)
			},
			"go on with a clone": func(t *rapid.T) {
				k := key.Draw(t, "key")
				was, before := m, maps.Collect(m.All())
				m = m.Clone()
				m.Grow(key.Draw(t, "more"))
				m.Set(k, "cloned")
				model[k] = "cloned"
				if after := maps.Collect(was.All()); !maps.Equal(before, after) {
					t.Errorf("what was cloned is %v, and was %v", after, before)
				}
			},
			"delete some while they are given": func(t *rapid.T) {
				gone := rapid.SliceOf(key).Draw(t, "keys")
				given := map[int]string{}
				for k, v := range m.All() {
					if _, twice := given[k]; twice {
						t.Errorf("%d was given twice", k)
					}
					given[k] = v
					for _, g := range gone {
						if g == k {
							m.Delete(k)
						}
					}
				}
				if !maps.Equal(given, model) {
					t.Errorf("gave %v, want %v", given, model)
				}
				for _, g := range gone {
					delete(model, g)
				}
			},
			"": func(t *rapid.T) {
				if m.Len() != len(model) || !maps.Equal(maps.Collect(m.All()), model) {
					t.Errorf("have %v, want %v", maps.Collect(m.All()), model)
				}
				keys := slices.Sorted(m.Keys())
				if !slices.Equal(keys, slices.Sorted(maps.Keys(model))) {
					t.Errorf("keys %v, want those of %v", keys, model)
				}
				for k := range 13 {
					got, ok := m.Get(k)
					want, there := model[k]
					if got != want || ok != there || m.At(k) != want {
						t.Errorf("%d: %q, %v; want %q, %v", k, got, ok, want, there)
					}
				}
			},
		})
	})
	t.Run("giving may be ended early", func(t *testing.T) {
		t.Parallel()
		for n := range 12 {
			var m smallmap.Map[int, int]
			for i := range n {
				m.Set(i, i)
			}
			given := 0
			for range m.All() {
				if given++; given == 2 {
					break
				}
			}
			if given != min(n, 2) {
				t.Errorf("%d of %d", given, n)
			}
		}
	})
}

func TestPutMakesTheMap(t *testing.T) {
	t.Parallel()
	var m map[string]int
	smallmap.Put(&m, "a", 1)
	smallmap.Put(&m, "b", 2)
	if want := map[string]int{"a": 1, "b": 2}; !maps.Equal(m, want) {
		t.Errorf("have %v, want %v", m, want)
	}
}
