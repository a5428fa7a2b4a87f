package gateway

import "sync"

// maxQueue bounds what waits to be written to one client, in bytes.
const maxQueue = 8 << 20

// queue is what waits to be written to a client. It is safe for concurrent use, and no method
// waits.
type queue struct {
	limit int
	wake  chan struct{} // holds one

	mu       sync.Mutex // protects what follows
	frames   [][]byte
	bytes    int
	isClosed bool
}

func newQueue(limit int) *queue { return &queue{limit: limit, wake: make(chan struct{}, 1)} }

// hasPushed adds a frame, which is the queue's from now on. It says whether there was room: a
// frame larger than the whole queue has room in an empty one.
func (q *queue) hasPushed(frame []byte) bool {
	q.mu.Lock()
	if q.isClosed {
		q.mu.Unlock()
		return true
	}
	if len(q.frames) > 0 && q.bytes+len(frame) > q.limit {
		q.mu.Unlock()
		return false
	}
	first := len(q.frames) == 0
	q.frames = append(q.frames, frame)
	q.bytes += len(frame)
	q.mu.Unlock()
	if first {
		q.signal()
	}
	return true
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take takes all there is; open is false once the queue is closed and empty. The frames
// still count until wrote is called for each.
func (q *queue) take(spare [][]byte) (frames [][]byte, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	frames = q.frames
	q.frames = spare[:0]
	return frames, !q.isClosed || len(frames) > 0
}

func (q *queue) wrote(frame []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= len(frame)
}

// close takes no further frames; what waits is written still, unless drop says otherwise.
// It returns how many were dropped.
func (q *queue) close(drop bool) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.isClosed = true
	if drop {
		dropped = len(q.frames)
		q.frames = nil
	}
	q.signal()
	return dropped
}
