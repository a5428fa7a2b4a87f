package lease

import (
	"fmt"
	"slices"

	"holdfast/internal/cluster/store"
)

// source says where an entry comes from.
type source uint8

const (
	fromWatch  source = iota
	fromAnswer        // to a transaction
	fromList          // that is newer than every deletion that is known
)

// fold takes an entry in, unless something newer is known. This is the one place where
// what is old is dropped.
//
// Nothing is kept of a key that has been deleted. So the creation of a key that is not
// known counts only where it is newer than every deletion that has been seen: an answer
// or a reordered event could otherwise bring back what is gone.
func (m *Machine) fold(e store.Entry, isDelete bool, from source) {
	what, name := parseKey(e.Key)
	if what == kindOther {
		return
	}
	known := m.revision(what, name)
	if e.Changed <= known {
		return
	}
	if isDelete {
		m.horizon = max(m.horizon, e.Changed)
		if known != 0 {
			m.forget(what, name, e.Changed)
		}
		return
	}
	if known == 0 && e.Changed < m.horizon && from != fromList {
		if from == fromWatch {
			m.list()
		}
		return
	}
	if err := m.learn(what, name, e); err != nil {
		m.do(Alarm{Key: e.Key, Problem: err.Error()})
	}
}

// revision is that of the last change that is known of a key, 0 where none is.
func (m *Machine) revision(what kind, name string) int64 {
	switch what {
	case kindCluster:
		return m.clusterRev
	case kindNode:
		if n := m.nodes[name]; n != nil {
			return n.changed
		}
	case kindSpec:
		if t := m.tasks[name]; t != nil {
			return t.specRev
		}
	case kindOwn:
		if t := m.tasks[name]; t != nil {
			return t.ownRev
		}
	}
	return 0
}

// learn keeps a new version of a record. One that breaks the rules is kept as a revision
// alone, so that it is reported once and never acted on.
func (m *Machine) learn(what kind, name string, e store.Entry) error {
	switch what {
	case kindCluster:
		r, err := decodeCluster(e.Value)
		if err == nil && m.clusterRev != 0 && r.Era > m.cluster.Era {
			m.newEra, m.hasList = r.Era, false // a listing shows the rest of it
			return nil
		}
		m.clusterRev = e.Changed
		if err != nil {
			m.stop("the cluster's record cannot be read: " + err.Error())
			return err
		}
		m.agree(r)
	case kindNode:
		r, err := decodeNode(e.Value)
		if err != nil {
			r = NodeRecord{IsDraining: true}
		}
		n := m.nodes[name]
		if n == nil || n.created != e.Created {
			n = &node{}
			m.nodes[name] = n
		}
		n.record, n.created, n.changed, n.seen = r, e.Created, e.Changed, m.now.Boot
		if name == m.config.Name && m.term != 0 && e.Created > m.term {
			m.loseTerm("another term of this node's name has begun")
		}
		return err
	case kindSpec:
		r, err := decodeSpec(e.Value)
		t := m.task(name)
		t.place, t.isBound, t.specRev, t.specCreated = r.Place, r.IsBound, e.Changed, e.Created
		if err != nil {
			t.place = ""
		}
		m.index(t)
		return err
	case kindOwn:
		r, err := decodeOwn(e.Value)
		if err != nil {
			r = Ownership{}
		}
		m.owned(m.task(name), r, e)
		return err
	}
	return nil
}

// forget drops a record that was deleted at a revision.
func (m *Machine) forget(what kind, name string, at int64) {
	switch what {
	case kindCluster:
		m.stop("the cluster's record was deleted")
	case kindNode:
		delete(m.nodes, name)
		if name == m.config.Name && m.term != 0 && at > m.term {
			m.loseTerm("the node's record was deleted")
		}
	case kindSpec:
		t := m.tasks[name]
		t.place, t.specRev, t.specCreated = "", 0, 0
		m.index(t)
	case kindOwn:
		m.owned(m.tasks[name], Ownership{}, store.Entry{})
	}
}

// listed takes a whole listing in. One that is older than a deletion that has been seen
// cannot be told from it, and another one is asked for.
func (m *Machine) listed(l store.Listing) {
	m.isListing = false
	m.leaveEra(l)
	if l.Revision < m.horizon {
		m.list()
		return
	}
	m.horizon = l.Revision
	in := map[string]bool{}
	for _, e := range l.Entries {
		in[e.Key] = true
		m.fold(e, false, fromList)
	}
	m.hasList = m.cluster.Era >= m.newEra
	gone := func(what kind, name, key string) {
		if known := m.revision(what, name); known != 0 && known <= l.Revision && !in[key] {
			m.forget(what, name, l.Revision)
		}
	}
	gone(kindCluster, "", clusterKey)
	for _, name := range sortedKeys(m.nodes) {
		gone(kindNode, name, nodeKey(name))
	}
	for _, id := range sortedKeys(m.tasks) {
		gone(kindOwn, id, ownKey(id))
		if m.tasks[id] != nil {
			gone(kindSpec, id, specKey(id))
		}
	}
}

// agree compares the cluster's record with what this node goes by.
func (m *Machine) agree(r ClusterRecord) {
	switch {
	case r.Format != format:
		m.stop(fmt.Sprintf("the cluster's records have format %d, this node writes format %d", r.Format, format))
	case r.Times != m.config.Times:
		m.stop(fmt.Sprintf("the cluster has other lease times: %+v", r.Times))
	case r.Era < m.cluster.Era:
		m.stop(fmt.Sprintf("the store has gone back from era %d to era %d", m.cluster.Era, r.Era))
		return // the era that was met stays
	}
	m.cluster = r
}

// leaveEra forgets all that is known where a listing has a newer era: its revisions may be
// lower than those that were seen, in answers that are under way too. Tasks are taken anew, under epochs of that era.
func (m *Machine) leaveEra(l store.Listing) {
	if m.clusterRev == 0 {
		return
	}
	for _, e := range l.Entries {
		if r, err := decodeCluster(e.Value); e.Key == clusterKey && err == nil && r.Era > m.cluster.Era {
			if m.term != 0 {
				m.loseTerm(fmt.Sprintf("the store is of era %d", r.Era))
			}
			m.clusterRev, m.horizon, m.nodes = 0, 0, map[string]*node{}
			m.inFlight, m.pending = 0, map[uint64]pending{}
			m.tasks, m.holders, m.busy = map[string]*task{}, map[holder]map[string]bool{}, map[string]bool{}
			return
		}
	}
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
