package lease

import (
	"errors"

	"holdfast/internal/cluster/store"
)

// RaiseEra is the transaction that begins a new era, above what the store and the caller know
// of: nodes of an older one decide nothing from then on. It returns the new era.
func RaiseEra(l store.Listing, known uint32) (store.Txn, uint32, error) {
	for _, e := range l.Entries {
		if e.Key != clusterKey {
			continue
		}
		r, err := decodeCluster(e.Value)
		if err != nil {
			return store.Txn{}, 0, err
		}
		r.Era = max(r.Era, known) + 1
		if r.Era > maxEra {
			return store.Txn{}, 0, errors.New("there is no era left")
		}
		return store.Txn{
			If:   []store.Condition{{Key: clusterKey, Test: store.ChangedAt, Revision: e.Changed}},
			Then: []store.Op{{Key: clusterKey, Value: encode(r)}},
		}, r.Era, nil
	}
	return store.Txn{}, 0, errors.New("the store has no record of a cluster of this name")
}
