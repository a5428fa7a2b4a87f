package browser

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Transport says how a launched browser is driven.
type Transport string

// The transports.
const (
	// TransportPipe, the zero value's meaning too, is --remote-debugging-pipe: two
	// pipes that the node alone has. No other process of the machine can reach them.
	TransportPipe Transport = "pipe"
	// TransportPort is --remote-debugging-port on the loopback interface. Chromium asks
	// for no password there: every user of the machine, and pages, can drive the browser.
	TransportPort Transport = "port"
)

// Validate refuses what is no transport; the empty one is [TransportPipe].
func (t Transport) Validate() error {
	switch t {
	case "", TransportPipe, TransportPort:
		return nil
	}
	return fmt.Errorf("the browser's transport is %q; it has to be pipe or port", string(t))
}

// pipeEnds are the node's ends of the two pipes of a browser.
type pipeEnds struct {
	from *os.File // what the browser says
	to   *os.File // what it is told
}

func (e *pipeEnds) close() {
	if e != nil {
		_, _ = e.from.Close(), e.to.Close() // their taker may have closed them
	}
}

// pipeCapacity is what either pipe holds: a page's event of some length at once.
const pipeCapacity = 256 << 10

// greeting is answered by a browser that is ready.
const greeting = `{"id":1,"method":"Browser.getVersion"}` + "\x00"

// maxGreeting bounds the answer, in bytes.
const maxGreeting = 64 << 10

// greet returns once the browser has answered. It ends with the pipe at the latest, and
// leaves nothing in it: a browser says nothing that it was not asked.
func (e *pipeEnds) greet() error {
	if _, err := io.WriteString(e.to, greeting); err != nil {
		return err
	}
	var said []byte
	piece := make([]byte, 4<<10)
	for {
		n, err := e.from.Read(piece)
		said = append(said, piece[:n]...)
		switch {
		case bytes.HasSuffix(said, []byte{0}) && bytes.HasPrefix(said, []byte(`{"id":1,"result":`)):
			return nil
		case bytes.IndexByte(said, 0) >= 0 || len(said) > maxGreeting:
			return errors.New("its answer is not one of the protocol")
		case err != nil:
			return err
		}
	}
}
