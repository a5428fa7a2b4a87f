// Package few has a map for what is nearly always a handful: the children of an
// actor, the pages of a task.
//
// A map of Go's has room for eight entries from the first one on, which for a
// name and a pointer is 256 bytes; a task that idles would have fifty such maps.
// [Map] is a list while it has no more than eight, and as fast; beyond that it is
// a map of Go's.
package few

import (
	"iter"
	"maps"
	"slices"
)

// most is how many entries are looked through faster than hashed.
const most = 8

// Map is a map. The zero value is empty and ready; a copy shares what is in it.
// It is as safe for concurrent use as a map of Go's. A nil one is empty, and not to be
// written to.
type Map[K comparable, V any] struct {
	list []entry[K, V]
	more map[K]V // in place of list, once there were more than most
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func (m *Map[K, V]) find(k K) int {
	for i := range m.list {
		if m.list[i].key == k {
			return i
		}
	}
	return -1
}

// Get returns what is under k, and whether there is anything.
func (m *Map[K, V]) Get(k K) (v V, ok bool) {
	if m == nil {
		return v, false
	}
	if m.more != nil {
		v, ok = m.more[k]
		return v, ok
	}
	if i := m.find(k); i >= 0 {
		return m.list[i].value, true
	}
	return v, false
}

// At returns what is under k, or the zero value.
func (m *Map[K, V]) At(k K) V {
	v, _ := m.Get(k)
	return v
}

// Set puts v under k.
func (m *Map[K, V]) Set(k K, v V) {
	if m.more != nil {
		m.more[k] = v
		return
	}
	if i := m.find(k); i >= 0 {
		m.list[i].value = v
		return
	}
	if len(m.list) < most {
		m.list = append(m.list, entry[K, V]{k, v})
		return
	}
	m.more = make(map[K]V, 2*most)
	for _, e := range m.list {
		m.more[e.key] = e.value
	}
	m.more[k], m.list = v, nil
}

// Grow makes room for n more entries at once, where they are as few.
func (m *Map[K, V]) Grow(n int) {
	if m.more == nil && len(m.list)+n <= most {
		m.list = slices.Grow(m.list, n)
	}
}

// Delete takes k out. What is empty holds nothing.
func (m *Map[K, V]) Delete(k K) {
	if m == nil {
		return
	}
	if m.more != nil {
		if delete(m.more, k); len(m.more) == 0 {
			m.more = nil
		}
		return
	}
	if i := m.find(k); i >= 0 {
		if m.list = slices.Delete(m.list, i, i+1); len(m.list) == 0 {
			m.list = nil
		}
	}
}

// Clone returns another map with the same entries, and room for one more.
func (m *Map[K, V]) Clone() Map[K, V] {
	if m.more != nil {
		return Map[K, V]{more: maps.Clone(m.more)}
	}
	return Map[K, V]{list: append(make([]entry[K, V], 0, min(len(m.list)+1, most)), m.list...)}
}

// Put sets an entry of a map of Go's that is made with its first: one that nearly
// always stays empty costs nothing.
func Put[M ~map[K]V, K comparable, V any](m *M, k K, v V) {
	if *m == nil {
		*m = M{}
	}
	(*m)[k] = v
}

// Len returns how many entries there are.
func (m *Map[K, V]) Len() int {
	if m == nil {
		return 0
	}
	return len(m.list) + len(m.more)
}

// Keys gives the keys, like All.
func (m *Map[K, V]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range m.All() {
			if !yield(k) {
				return
			}
		}
	}
}

// All gives the entries, in no order. They may be deleted meanwhile; one that
// comes meanwhile is given or not.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if m == nil {
			return
		}
		if m.more != nil {
			for k, v := range m.more {
				if !yield(k, v) {
					return
				}
			}
			return
		}
		// From the end on: deleting moves what follows.
		for i := len(m.list) - 1; i >= 0; i-- {
			if i < len(m.list) && !yield(m.list[i].key, m.list[i].value) {
				return
			}
		}
	}
}
