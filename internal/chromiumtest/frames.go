package chromiumtest

import (
	"bytes"
	"encoding/binary"
)

const (
	maxHead    = 64 << 10  // bytes of an HTTP head that are searched for its end
	maxMessage = 256 << 20 // bytes of one message that are kept

	opContinuation = 0
	opText         = 1
)

// frameReader reads the text messages out of one direction of a WebSocket
// connection, beginning with the HTTP head. What is not a WebSocket gives no
// messages. Compressed messages are passed over.
type frameReader struct {
	deliver  func(payload []byte)
	buffer   []byte
	hasBegun bool // the HTTP head is behind us
	isDead   bool // this is not what we know how to read
	message  []byte
	isText   bool
}

func newFrameReader(deliver func([]byte)) *frameReader { return &frameReader{deliver: deliver} }

func (f *frameReader) write(p []byte) {
	if f.isDead {
		return
	}
	f.buffer = append(f.buffer, p...)
	if !f.hasBegun {
		end := bytes.Index(f.buffer, []byte("\r\n\r\n"))
		if end < 0 {
			f.isDead = len(f.buffer) > maxHead
			return
		}
		head := bytes.ToLower(f.buffer[:end])
		if !bytes.Contains(head, []byte("upgrade: websocket")) {
			f.isDead, f.buffer = true, nil
			return
		}
		f.buffer, f.hasBegun = f.buffer[end+4:], true
	}
	for f.takeFrame() {
	}
}

// takeFrame consumes one whole frame and says whether there was one.
func (f *frameReader) takeFrame() bool {
	b := f.buffer
	if len(b) < 2 {
		return false
	}
	final, compressed, opcode := b[0]&0x80 != 0, b[0]&0x40 != 0, b[0]&0x0f
	masked, size, at := b[1]&0x80 != 0, uint64(b[1]&0x7f), 2
	switch size {
	case 126:
		if len(b) < 4 {
			return false
		}
		size, at = uint64(binary.BigEndian.Uint16(b[2:])), 4
	case 127:
		if len(b) < 10 {
			return false
		}
		size, at = binary.BigEndian.Uint64(b[2:]), 10
	}
	if size > maxMessage || uint64(len(f.message))+size > maxMessage {
		f.isDead, f.buffer, f.message = true, nil, nil
		return false
	}
	var mask [4]byte
	if masked {
		if len(b) < at+4 {
			return false
		}
		copy(mask[:], b[at:])
		at += 4
	}
	end := at + int(size)
	if len(b) < end {
		return false
	}
	if opcode == opText {
		f.isText, f.message = !compressed, nil
	}
	if opcode == opText || opcode == opContinuation {
		start := len(f.message)
		f.message = append(f.message, b[at:end]...)
		for i := range f.message[start:] {
			f.message[start+i] ^= mask[i%4]
		}
		if final {
			if f.isText {
				f.deliver(f.message)
			}
			f.isText, f.message = false, nil
		}
	}
	f.buffer = f.buffer[end:]
	if len(f.buffer) == 0 {
		f.buffer = nil
	}
	return true
}
