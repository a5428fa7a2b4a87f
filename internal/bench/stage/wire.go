package stage

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// The server's half of a WebSocket, by hand: a stage that is slower than its
// clients measures itself.

const (
	opContinuation = 0
	opText         = 1
	opClose        = 8
	opPing         = 9
	opPong         = 10
)

// maxFrame bounds what a client may send in one frame.
const maxFrame = 1 << 20

// upgrade answers the handshake and takes the connection over.
func upgrade(w http.ResponseWriter, r *http.Request) (net.Conn, *bufio.Reader, error) {
	key := r.Header.Get("Sec-WebSocket-Key")
	hijacker, ok := w.(http.Hijacker)
	if !ok || key == "" {
		http.Error(w, "a WebSocket is wanted", http.StatusBadRequest)
		return nil, nil, errors.New("stage: no WebSocket handshake")
	}
	conn, rw, err := hijacker.Hijack()
	if err != nil {
		return nil, nil, fmt.Errorf("stage: %w", err)
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	if err != nil {
		_ = conn.Close()
		return nil, nil, fmt.Errorf("stage: %w", err)
	}
	return conn, rw.Reader, nil
}

// appendFrame appends a frame with an unmasked payload, as servers send it.
func appendFrame(to []byte, op byte, payload []byte) []byte {
	to = append(to, 0x80|op)
	switch n := len(payload); {
	case n < 126:
		to = append(to, byte(n))
	case n < 1<<16:
		to = binary.BigEndian.AppendUint16(append(to, 126), uint16(n))
	default:
		to = binary.BigEndian.AppendUint64(append(to, 127), uint64(n))
	}
	return append(to, payload...)
}

// readFrame reads a client's frame into buf, which it may grow.
func readFrame(r *bufio.Reader, buf []byte) (op byte, final bool, payload []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:2]); err != nil {
		return 0, false, buf, err
	}
	op, final = head[0]&0x0f, head[0]&0x80 != 0
	masked, n := head[1]&0x80 != 0, uint64(head[1]&0x7f)
	switch n {
	case 126:
		_, err = io.ReadFull(r, head[:2])
		n = uint64(binary.BigEndian.Uint16(head[:2]))
	case 127:
		_, err = io.ReadFull(r, head[:8])
		n = binary.BigEndian.Uint64(head[:8])
	}
	if err != nil {
		return 0, false, buf, err
	}
	if n > maxFrame {
		return 0, false, buf, fmt.Errorf("stage: a frame of %d bytes", n)
	}
	var mask [4]byte
	if masked {
		if _, err := io.ReadFull(r, mask[:]); err != nil {
			return 0, false, buf, err
		}
	}
	if uint64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		return 0, false, buf, err
	}
	for i := range buf {
		buf[i] ^= mask[i&3]
	}
	return op, final, buf, nil
}
