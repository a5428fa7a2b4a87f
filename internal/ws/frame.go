package ws

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// Opcode is the kind of a frame.
type Opcode uint8

// The opcodes.
const (
	Continuation Opcode = 0x0
	Text         Opcode = 0x1
	Binary       Opcode = 0x2
	Close        Opcode = 0x8
	Ping         Opcode = 0x9
	Pong         Opcode = 0xa
)

// IsControl tells frames about the connection from those of messages. They may
// stand between the frames of a message.
func (o Opcode) IsControl() bool { return o&0x8 != 0 }

const (
	// MaxControl bounds the payload of a control frame, in bytes.
	MaxControl = 125
	// Headroom is what [Seal] needs in front of a payload, in bytes.
	Headroom = 14
)

// Header is what a frame begins with.
type Header struct {
	Op     Opcode
	Fin    bool  // the last frame of its message
	Length int64 // of the payload that follows, in bytes
}

// ProtocolError says what a peer does that the protocol forbids.
type ProtocolError string

// Error implements error.
func (e ProtocolError) Error() string { return "websocket: " + string(e) }

// ParseHeader reads the header of a server's frame, which is n bytes long. N is
// 0 where b does not hold all of it.
func ParseHeader(b []byte) (h Header, n int, err error) {
	if len(b) < 2 {
		return Header{}, 0, nil
	}
	h = Header{Op: Opcode(b[0] & 0xf), Fin: b[0]&0x80 != 0, Length: int64(b[1] & 0x7f)}
	switch {
	case b[0]&0x70 != 0:
		return h, 0, ProtocolError("reserved bits are set")
	case b[1]&0x80 != 0:
		return h, 0, ProtocolError("a server's frame is masked")
	case h.Op > Binary && h.Op < Close, h.Op > Pong:
		return h, 0, ProtocolError("unknown opcode")
	case h.Op.IsControl() && !h.Fin:
		return h, 0, ProtocolError("a control frame in pieces")
	case h.Op.IsControl() && h.Length > MaxControl:
		return h, 0, ProtocolError("a control frame is too long")
	}
	n = 2
	switch h.Length {
	case 126:
		if n += 2; len(b) < n {
			return Header{}, 0, nil
		}
		h.Length = int64(binary.BigEndian.Uint16(b[2:]))
	case 127:
		if n += 8; len(b) < n {
			return Header{}, 0, nil
		}
		if h.Length = int64(binary.BigEndian.Uint64(b[2:])); h.Length < 0 {
			return h, 0, ProtocolError("a length is negative")
		}
	}
	return h, n, nil
}

// Seal makes a client's frame, the only one of its message, of the payload
// b[Headroom:], in place: it masks the payload and writes the header in front of
// it. It returns the frame, a part of b.
func Seal(b []byte, op Opcode) []byte {
	payload := b[Headroom:]
	// The mask keeps proxies from taking what a page has a client say for a
	// protocol of theirs. It has to be unpredictable, which the runtime's
	// generator is; nothing is kept secret by it.
	key := rand.Uint32()
	at := Headroom - 4
	binary.LittleEndian.PutUint32(b[at:], key)
	Mask(payload, key)
	length := byte(0x80)
	switch n := len(payload); {
	case n <= MaxControl:
		length |= byte(n)
	case n <= 0xffff:
		at -= 2
		binary.BigEndian.PutUint16(b[at:], uint16(n))
		length |= 126
	default:
		at -= 8
		binary.BigEndian.PutUint64(b[at:], uint64(n))
		length |= 127
	}
	at -= 2
	b[at], b[at+1] = 0x80|byte(op), length
	return b[at:]
}

// Mask applies the key to b, which is its own reverse. The key's lowest byte is
// for b[0].
func Mask(b []byte, key uint32) {
	wide := uint64(key)<<32 | uint64(key)
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^wide)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= byte(key)
		key = bits.RotateLeft32(key, -8)
	}
}

// CloseStatus reads the payload of a close frame: a code, 1005 where there is
// none, and the peer's reason.
func CloseStatus(payload []byte) (code int, reason string, err error) {
	switch len(payload) {
	case 0:
		return 1005, "", nil
	case 1:
		return 0, "", ProtocolError("half a status code")
	}
	code = int(binary.BigEndian.Uint16(payload))
	switch {
	case code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006, code >= 3000 && code <= 4999:
		return code, string(payload[2:]), nil
	}
	return 0, "", ProtocolError("invalid status code")
}
