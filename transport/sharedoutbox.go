package transport

import (
	"bytes"
	"strconv"
)

// sharedOutbox holds what is decided under the lock of a [Shared] and is yet to be written.
// While anything is in it, clients' commands go through it as well, so that the order of the
// decisions is that of the wire.
type sharedOutbox struct {
	frames    [][]byte
	isSending bool
	sent      chan struct{} // closed when all is written; only while isSending
}

// stopLocked forgets everything: the connection has ended.
func (o *sharedOutbox) stopLocked() { o.frames = nil }

func (p *Shared) enqueueLocked(frame []byte) {
	if p.end != nil {
		return
	}
	o := &p.outbox
	o.frames = append(o.frames, frame)
	if !o.isSending {
		o.isSending, o.sent = true, make(chan struct{})
		go p.sendAll()
	}
}

// isSending says whether a command would have to wait behind others.
func (p *Shared) isSending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outbox.isSending
}

// sendAll writes what is in the outbox, until it is empty.
func (p *Shared) sendAll() {
	for {
		p.mu.Lock()
		o := &p.outbox
		if len(o.frames) == 0 {
			close(o.sent)
			*o = sharedOutbox{}
			p.mu.Unlock()
			return
		}
		frame := o.frames[0]
		o.frames = o.frames[1:]
		p.mu.Unlock()
		if err := p.over.write(frame, nil, nil); err != nil {
			p.fail(p.over.broken(err))
		}
	}
}

// numberLocked begins a client's command as it goes over the connection, with an id that no
// other command has.
func (p *Shared) numberLocked(b []byte, call sharedCall) ([]byte, error) {
	call.id = bytes.Clone(call.id)
	id, err := p.newCallLocked(call)
	if err != nil {
		return nil, err
	}
	return strconv.AppendInt(append(b, idHead...), int64(id), 10), nil
}

// encodeLocked writes a client's command as it goes over the connection. Rest is what stands
// behind the client's own id; session takes the place of the one it names, if any.
func (p *Shared) encodeLocked(b []byte, call sharedCall, rest []byte, session string) ([]byte, error) {
	b, err := p.numberLocked(b, call)
	if err != nil {
		return nil, err
	}
	if named, isNamed := commandSession(rest); isNamed {
		b = append(b, withoutSession(rest, named)...)
	} else {
		b = append(b, rest[:len(rest)-1]...)
	}
	if session != "" {
		b = append(append(append(b, sessionHead...), session...), '"')
	}
	return append(b, '}', 0), nil
}

// commandMethod is the method of a command as [command] encodes it.
func commandMethod(msg []byte) []byte {
	_, digits := leadingID(msg)
	rest, ok := bytes.CutPrefix(msg[min(len(msg), len(idHead)+digits):], []byte(`,"method":"`))
	if !ok {
		return nil
	}
	method, _, _ := bytes.Cut(rest[:min(len(rest), 64)], []byte{'"'})
	return method
}

// isResume says whether a command resumes a page that is held.
func isResume(msg []byte) bool { return string(commandMethod(msg)) == methodResume }
