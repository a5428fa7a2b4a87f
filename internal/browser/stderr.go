package browser

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"sync"

	"holdfast/internal/redact"
	"holdfast/messages"
)

const (
	maxStderrLine  = 4096 // bytes kept of one line
	maxStderrLines = 20   // lines kept for the error

	listening = "DevTools listening on "
)

// stderrReader reads what the browser says: the DevTools URL once, and the
// last lines for the error when it fails.
type stderrReader struct {
	endpoint chan messages.CDPURL // buffered, at most one

	mu   sync.Mutex
	tail []string
}

func newStderrReader() *stderrReader {
	return &stderrReader{endpoint: make(chan messages.CDPURL, 1)}
}

// run reads until the pipe is closed. It must keep reading for as long as the
// browser lives: a full pipe would stop it.
func (s *stderrReader) run(r io.Reader) {
	buffered := bufio.NewReaderSize(r, maxStderrLine)
	for {
		line, err := buffered.ReadSlice('\n')
		s.line(strings.TrimSpace(string(line)))
		for errors.Is(err, bufio.ErrBufferFull) { // drop the rest of a long line
			_, err = buffered.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

func (s *stderrReader) line(text string) {
	if url, found := strings.CutPrefix(text, listening); found {
		if endpoint, err := messages.ParseCDPURL(url); err == nil && !endpoint.IsZero() {
			select {
			case s.endpoint <- endpoint:
			default:
			}
			return
		}
	}
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tail) == maxStderrLines {
		s.tail = append(s.tail[:0], s.tail[1:]...)
	}
	s.tail = append(s.tail, redact.Text(text))
}

// last returns the last lines, redacted.
func (s *stderrReader) last() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.tail...)
}

// limitedWriter drops what is beyond its limit.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}
