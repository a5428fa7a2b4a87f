package registry

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"holdfast/actors/supervisor/view"
	"holdfast/messages"
)

// Directory finds the board of a task. Reading never waits for an actor. Safe
// for concurrent use.
type Directory struct {
	boards sync.Map // messages.TaskID → *supervisor.Board
}

// Board returns the board of a task that runs, was lost, or ended lately; nil
// when there is none.
func (d *Directory) Board(id messages.TaskID) *view.Board {
	if b, ok := d.boards.Load(id); ok {
		return b.(*view.Board)
	}
	return nil
}

// All goes through the tasks that run, were lost, or ended lately, in no order.
func (d *Directory) All() iter.Seq2[messages.TaskID, *view.Board] {
	return func(yield func(messages.TaskID, *view.Board) bool) {
		d.boards.Range(func(id, b any) bool { return yield(id.(messages.TaskID), b.(*view.Board)) })
	}
}

// List returns the tasks that run or were lost, by id.
func (d *Directory) List() []*messages.Snapshot {
	list := []*messages.Snapshot{}
	d.boards.Range(func(_, b any) bool {
		if s := b.(*view.Board).View().Snapshot; s.State != messages.StateStopped {
			list = append(list, s)
		}
		return true
	})
	slices.SortFunc(list, func(a, b *messages.Snapshot) int { return cmp.Compare(a.TaskID, b.TaskID) })
	return list
}

func (d *Directory) put(id messages.TaskID, b *view.Board) { d.boards.Store(id, b) }

func (d *Directory) forget(id messages.TaskID) { d.boards.Delete(id) }
