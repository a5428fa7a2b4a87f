package gateway

import "sync"

// maxQueue bounds what waits to be written to one client, in bytes.
const maxQueue = 8 << 20

// queue is what waits to be written to a client. It is safe for concurrent use, and no method
// waits. One goroutine at a time writes, and only while there is something to write: the one that
// a method tells to.
type queue struct {
	limit int

	mu       sync.Mutex // protects what follows
	frames   [][]byte
	bytes    int
	isBusy   bool // a goroutine writes
	isClosed bool
}

// newQueue returns the queue of a connection that is yet to come: its first goroutine is started
// with that.
func newQueue(limit int) *queue { return &queue{limit: limit, isBusy: true} }

// pushed is what has become of a frame.
type pushed uint8

const (
	isQueued  pushed = iota // or dropped, by a queue that is closed
	isFirst                 // queued, and the caller sees to it that a goroutine writes
	hasNoRoom               // the frame is not queued
)

// push adds a frame, which is the queue's from now on. A frame larger than the whole queue has room
// in an empty one.
func (q *queue) push(frame []byte) pushed {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isClosed {
		return isQueued
	}
	if len(q.frames) > 0 && q.bytes+len(frame) > q.limit {
		return hasNoRoom
	}
	q.frames = append(q.frames, frame)
	q.bytes += len(frame)
	return q.beginLocked()
}

// beginLocked says whether the caller is to have a goroutine write.
func (q *queue) beginLocked() pushed {
	if q.isBusy {
		return isQueued
	}
	q.isBusy = true
	return isFirst
}

// isMine says whether the caller may write a frame now, itself, as the goroutine that writes.
// Nothing waits then. It calls isDone behind that.
func (q *queue) isMine() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isBusy || q.isClosed {
		return false
	}
	q.isBusy = true
	return true
}

// isDone ends that. False says that the caller is to have a goroutine write what has come
// meanwhile.
func (q *queue) isDone() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.isBusy = len(q.frames) > 0 || q.isClosed
	return !q.isBusy
}

// take takes all there is for the goroutine that writes. Where that is nothing the goroutine has
// ended its work: isLast says that nothing will come any more. The frames still count until wrote is
// called for each.
func (q *queue) take(spare [][]byte) (frames [][]byte, isLast bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	frames = q.frames
	q.frames = spare[:0]
	if len(frames) == 0 {
		q.frames = nil // it may be long until the next
		q.isBusy = q.isClosed
	}
	return frames, q.isClosed && len(frames) == 0
}

func (q *queue) wrote(frame []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= len(frame)
}

// close takes no further frames; what waits is written still, unless drop says otherwise. It
// returns how many were dropped, and whether the caller is to have a goroutine write: the last call
// of take is that goroutine's.
func (q *queue) close(drop bool) (dropped int, p pushed) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.isClosed = true
	if drop {
		dropped = len(q.frames)
		q.frames = nil
	}
	return dropped, q.beginLocked()
}
