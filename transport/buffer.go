package transport

import "sync"

// Read buffers are borrowed for as long as messages follow each other. An idle link holds
// none, and a link that once got a big reply does not keep it. Above the largest class they
// are made and left to the collector.
const (
	smallBuffer = 4 << 10
	midBuffer   = 64 << 10
	bigBuffer   = 1 << 20
)

type buffer struct{ b []byte }

var bufferPools = [...]struct {
	size int
	pool *sync.Pool
}{
	{smallBuffer, newBufferPool(smallBuffer)},
	{midBuffer, newBufferPool(midBuffer)},
	{bigBuffer, newBufferPool(bigBuffer)},
}

func newBufferPool(size int) *sync.Pool {
	return &sync.Pool{New: func() any { return &buffer{b: make([]byte, size)} }}
}

func getBuffer(size int) *buffer {
	for i := range bufferPools {
		if p := &bufferPools[i]; size <= p.size {
			return p.pool.Get().(*buffer)
		}
	}
	return &buffer{b: make([]byte, size)}
}

func putBuffer(buf *buffer) {
	for i := range bufferPools {
		if p := &bufferPools[i]; len(buf.b) == p.size {
			p.pool.Put(buf)
		}
	}
}

// nextSize is the size of the buffer that takes the place of a full one.
func nextSize(size int) int {
	switch {
	case size < midBuffer:
		return midBuffer
	case size < bigBuffer:
		return bigBuffer
	}
	return 2 * size
}
