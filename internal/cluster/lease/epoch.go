package lease

import "fmt"

// Epoch numbers the owners of a task. It grows with every change of the owner, and it is
// never used twice, also not after the task has ended and begins anew, or after the
// store has been restored from a copy.
type Epoch uint64

// counterBits are the lower bits of an epoch, which count within an era.
const counterBits = 40

// maxEra is the last era that an epoch has room for.
const maxEra = 1<<(64-counterBits) - 1

// epochOf computes the epoch of an ownership record: the era, and the revision at which
// the record was created plus the changes of owner since. Each change uses a revision of
// its own, so a record that is created after a deletion begins above all that went before
// it, and no node has to remember the epochs of tasks that have ended.
func epochOf(era uint32, created int64, changes uint64) Epoch {
	return Epoch(era)<<counterBits | Epoch(uint64(created)+changes)&(1<<counterBits-1)
}

// String shows the era and the counter.
func (e Epoch) String() string {
	return fmt.Sprintf("%d.%d", uint64(e)>>counterBits, uint64(e)&(1<<counterBits-1))
}
