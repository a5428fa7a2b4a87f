// Package smallmap has a map for data that nearly always has few entries: the children of
// an actor, the pages of a task.
//
// A Go map has room for eight entries from the first one on, which for a name and a
// pointer is 256 bytes; an idle task would have fifty such maps. [Map] is a list up to
// eight entries, where a search is as fast as a hash, and a Go map beyond that.
package smallmap

import (
	"iter"
	"maps"
	"slices"
)

// most is the number of entries up to which a search is as fast as a hash.
const most = 8

// Map is a map. The zero value is empty and ready to use; a copy shares the entries. It
// is as safe for concurrent use as a Go map. A nil Map is empty and cannot be written to.
type Map[K comparable, V any] struct {
	list []entry[K, V]
	more map[K]V // replaces list beyond most entries
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

// Get returns the value of k, and whether there is one.
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

// At returns the value of k, or the zero value.
func (m *Map[K, V]) At(k K) V {
	v, _ := m.Get(k)
	return v
}

// Set stores v under k.
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

// Grow makes room for n more entries, while the map is a list.
func (m *Map[K, V]) Grow(n int) {
	if m.more == nil && len(m.list)+n <= most {
		m.list = slices.Grow(m.list, n)
	}
}

// Delete removes k. An empty Map keeps no memory.
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

// Put sets an entry of a Go map, which it makes with the first entry: a map that nearly
// always stays empty costs nothing.
func Put[M ~map[K]V, K comparable, V any](m *M, k K, v V) {
	if *m == nil {
		*m = M{}
	}
	(*m)[k] = v
}

// Len returns the number of entries.
func (m *Map[K, V]) Len() int {
	if m == nil {
		return 0
	}
	return len(m.list) + len(m.more)
}

// Keys yields the keys, like All.
func (m *Map[K, V]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range m.All() {
			if !yield(k) {
				return
			}
		}
	}
}

// All yields the entries in no order. Entries may be deleted during the iteration; one
// that is added may be yielded or not.
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
		// From the end: a deletion moves the entries behind it.
		for i := len(m.list) - 1; i >= 0; i-- {
			if i < len(m.list) && !yield(m.list[i].key, m.list[i].value) {
				return
			}
		}
	}
}
