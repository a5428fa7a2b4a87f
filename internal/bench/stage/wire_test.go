package stage

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"holdfast/transport"
)

// clientFrame is a frame as clients send it, masked.
func clientFrame(op byte, final bool, payload []byte) []byte {
	frame := []byte{op}
	if final {
		frame[0] |= 0x80
	}
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, 0x80|byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 0x80|126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 0x80|127), uint64(n))
	}
	mask := [4]byte{1, 2, 3, 4}
	frame = append(frame, mask[:]...)
	for i, b := range payload {
		frame = append(frame, b^mask[i&3])
	}
	return frame
}

func TestFramesOfClients(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 125, 126, 65535, 65536} {
		payload := bytes.Repeat([]byte("x"), size)
		op, final, got, err := readFrame(bufio.NewReader(bytes.NewReader(clientFrame(opText, true, payload))), nil)
		if err != nil || op != opText || !final || !bytes.Equal(got, payload) {
			t.Errorf("%d bytes: op %d, final %v, %d bytes, %v", size, op, final, len(got), err)
		}
	}
	if _, _, _, err := readFrame(bufio.NewReader(bytes.NewReader(clientFrame(opText, true, make([]byte, maxFrame+1)))), nil); err == nil {
		t.Error("a frame beyond the bound was read")
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add(clientFrame(opText, true, []byte(`{"id":1}`)))
	f.Add([]byte{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, payload, err := readFrame(bufio.NewReader(bytes.NewReader(data)), nil)
		if err == nil && len(payload) > len(data) {
			t.Errorf("%d bytes out of %d", len(payload), len(data))
		}
	})
}

func TestBurstsAreWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{Ignored, Console, Changes} {
		const events, from = 6, 40
		b := Burst{Kind: kind, Events: events, From: from, Frame: strings.Repeat("F", 32), Parent: strings.Repeat("0", 32)}
		wire := b.frames(strings.Repeat("5", 32))
		for i := range events {
			// As a server frames it: no mask, sixteen bits of length.
			if len(wire) < 4+Size || wire[0] != 0x80|opText || wire[1] != 126 || binary.BigEndian.Uint16(wire[2:]) != Size {
				t.Fatalf("%s: event %d has not %d bytes", kind, i, Size)
			}
			message := wire[4 : 4+Size]
			wire = wire[4+Size:]
			e, err := transport.Scan(message)
			if err != nil || len(e.SessionID) != 32 || len(e.Method) == 0 {
				t.Errorf("%s: event %d: %v in %s", kind, i, err, message)
			}
			if kind == Changes && !strings.Contains(string(message), Serial(from+i)) {
				t.Errorf("event %d does not say so: %s", from+i, message)
			}
		}
		if len(wire) != 0 {
			t.Errorf("%s: %d bytes more", kind, len(wire))
		}
	}
}

func TestOnlySettingsArePardoned(t *testing.T) {
	t.Parallel()
	var s settings
	unknown := func(id int) []byte {
		return fmt.Appendf(nil, `{"id":%d,"error":{"code":-32601,"message":"wasn't found"},"sessionId":"S"}`, id)
	}
	s.note(transport.Envelope{ID: 1, HasID: true, Method: []byte("Audits.enable")})
	s.note(transport.Envelope{ID: 2, HasID: true, Method: []byte("DOM.getDocument")})
	if got := string(s.pardon(unknown(1))); got != `{"id":1,"result":{},"sessionId":"S"}` {
		t.Error(got)
	}
	if got := s.pardon(unknown(2)); !bytes.Equal(got, unknown(2)) {
		t.Errorf("%s", got)
	}
}
