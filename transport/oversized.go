package transport

import "holdfast/internal/ws"

const (
	// headSize is how much is kept of the beginning of a message that is
	// discarded, and tailSize of its end.
	headSize = 64 << 10
	tailSize = 512
)

// oversized is a message that is too large: it is passed over as it comes.
type oversized struct {
	head, tail []byte
	size       int
	left       int64 // of the frame that is coming
	fin        bool  // which is the last
}

// discard begins a frame of a message that is too large.
func (r *reader) discard(h ws.Header) {
	if r.over == nil {
		r.over = new(oversized)
		r.over.keep(r.parts)
		r.parts = nil
	}
	if r.kind == 0 {
		r.kind = h.Op
	}
	r.over.left, r.over.fin = h.Length, h.Fin
	r.endOversized()
}

// add passes over what belongs to the frame, and says how much that is.
func (o *oversized) add(b []byte) int {
	b = b[:min(int64(len(b)), o.left)]
	o.left -= int64(len(b))
	o.keep(b)
	return len(b)
}

func (o *oversized) keep(b []byte) {
	o.size += len(b)
	o.head = append(o.head, b[:min(len(b), headSize-len(o.head))]...)
	o.tail = append(o.tail, b[max(len(b)-tailSize, 0):]...)
	if n := len(o.tail); n > tailSize {
		o.tail = append(o.tail[:0], o.tail[n-tailSize:]...)
	}
}

// endOversized tells of the message once all of it has come.
func (r *reader) endOversized() {
	if o := r.over; o.left == 0 && o.fin {
		r.over, r.kind = nil, 0
		r.m.countOther(o.size)
		r.m.tooLarge(o.head, o.tail)
		r.told = true
	}
}

// tooLarge gives the call of a reply that was discarded its outcome. Chrome
// puts the id first; where it stands last it is found too. A reply with the id
// elsewhere is only counted: its call ends by its own deadline.
func (m *Mux) tooLarge(head, tail []byte) {
	m.stats.Oversized.Add(1)
	e := scanCut(head)
	if !e.HasID && e.Method == nil {
		e.ID, e.HasID = idFromTail(tail)
	}
	if e.HasID && e.Method == nil && e.ID >= 0 && e.ID < untrackedIDBase {
		m.finish(e.ID, Reply{Err: ErrTooLarge})
	}
}
