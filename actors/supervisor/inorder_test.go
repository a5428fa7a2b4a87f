package supervisor

import (
	"slices"
	"testing"

	"holdfast/messages/mail"
)

// TestTheDialogActorsMessagesKeepTheirOrder whatever overtakes on the way, and each is handled
// once.
func TestTheDialogActorsMessagesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for name, arrivals := range map[string][]uint64{
		"as sent":               {1, 2, 3, 4, 5},
		"one overtakes":         {1, 4, 2, 3, 5},
		"two overtake":          {4, 5, 1, 2, 3},
		"the last is the first": {5, 1, 2, 3, 4},
	} {
		var o inOrder
		var got []any
		life := o.begin()
		for _, seq := range arrivals {
			got = append(got, o.take(mail.FromDialog{Life: life, Seq: seq, Msg: seq})...)
		}
		if want := []any{uint64(1), uint64(2), uint64(3), uint64(4), uint64(5)}; !slices.Equal(got, want) || len(o.early) != 0 {
			t.Errorf("%s: %v, %d left", name, got, len(o.early))
		}
	}
}

// TestAFormerDialogActorIsNotHeard: one that hung and was given up may still send.
func TestAFormerDialogActorIsNotHeard(t *testing.T) {
	t.Parallel()
	var o inOrder
	former := o.begin()
	o.take(mail.FromDialog{Life: former, Seq: 1})
	life := o.begin()
	for _, f := range []mail.FromDialog{{Life: former, Seq: 1, Msg: "old"}, {Life: former, Seq: 2, Msg: "old"}} {
		if got := o.take(f); len(got) > 0 {
			t.Errorf("%+v gives %v", f, got)
		}
	}
	if got := o.take(mail.FromDialog{Life: life, Seq: 1, Msg: "new"}); !slices.Equal(got, []any{"new"}) {
		t.Errorf("the new one gives %v", got)
	}
}
