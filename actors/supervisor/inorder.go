package supervisor

import "holdfast/messages/mail"

// inOrder puts the messages of the dialog actor in their order: some overtake the others on
// their way (see [mail.FromDialog]).
type inOrder struct {
	life  uint64                     // of the actor that is heard
	last  uint64                     // that was handled
	early map[uint64]mail.FromDialog // that wait for those before them
}

// begin returns the life of a new dialog actor, whose messages are counted anew. Those of the one
// before are handled by then, since the report of its end came behind them. One that was given
// up while it hung is not heard any more.
func (o *inOrder) begin() (life uint64) {
	*o = inOrder{life: o.life + 1}
	return o.life
}

// take returns what is to be handled now, in order.
func (o *inOrder) take(f mail.FromDialog) []any {
	if f.Life != o.life {
		return nil
	}
	if f.Seq != o.last+1 {
		if o.early == nil {
			o.early = map[uint64]mail.FromDialog{}
		}
		o.early[f.Seq] = f
		return nil
	}
	o.last++
	now := []any{f.Msg}
	for next, ok := o.early[o.last+1]; ok; next, ok = o.early[o.last+1] {
		delete(o.early, next.Seq)
		o.last++
		now = append(now, next.Msg)
	}
	return now
}
