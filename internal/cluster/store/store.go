package store

import "context"

// Entry is one key as the store has it.
type Entry struct {
	Key   string
	Value []byte
	// Created is the revision at which the key came to be. A key that is deleted and put
	// again has a greater one.
	Created int64
	// Changed is the revision of the last put, or in an Event of a deletion that of the
	// deletion.
	Changed int64
}

// Event is one change of a key, as a watch reports it. The events of one key come in the
// order of their revisions.
type Event struct {
	Entry
	IsDelete bool
}

// Listing is what the store had at one revision.
type Listing struct {
	Entries  []Entry
	Revision int64
}

// Test says what a Condition compares.
type Test uint8

// Tests are what a transaction can ask of a key. A key that does not exist has revision 0
// in all of them.
const (
	// CreatedAt holds where the key's creation has the Condition's revision.
	CreatedAt Test = iota
	// NotCreatedAt holds where the key's creation has another revision.
	NotCreatedAt
	// ChangedAt holds where the key's last change has the Condition's revision.
	ChangedAt
)

// Condition is one comparison of a transaction.
type Condition struct {
	Key      string
	Test     Test
	Revision int64
}

// Op is one change of a transaction: a put, or a deletion.
type Op struct {
	Key      string
	Value    []byte
	IsDelete bool
}

// Txn is carried out as a whole or not at all: Then where every condition holds, else
// nothing, and the keys of Read are looked up.
type Txn struct {
	If   []Condition
	Then []Op
	Read []string
}

// MaxOps bounds the operations of a transaction, and its conditions. It is the default of
// etcd's max-txn-ops, which a store that others run has.
const MaxOps = 128

// Result is the store's answer to a transaction.
type Result struct {
	// IsDone says that every condition held, and that all was carried out, at Revision.
	IsDone   bool
	Revision int64
	// Found are the keys of Read that exist, where IsDone is false.
	Found []Entry
}

// Store is what a cluster writes to. Its methods are safe for concurrent use.
type Store interface {
	// Commit carries a transaction out, or not, and answers before the context ends. After
	// an error the outcome is not known: it has perhaps been carried out, or will be.
	Commit(context.Context, Txn) (Result, error)
	// List returns all entries as of one revision, at least the newest that any caller has
	// been told of.
	List(context.Context) (Listing, error)
	// Watch reports every change after a revision, in the order of revisions, one call of
	// report at a time, until the context ends or the watch breaks. After an error the
	// caller lists anew.
	Watch(ctx context.Context, after int64, report func([]Event)) error
	Close() error
}
