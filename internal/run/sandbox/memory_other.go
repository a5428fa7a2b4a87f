//go:build !linux

package sandbox

import "bytes"

// picture is the memory of a sandbox, to be copied.
type picture struct {
	bytes []byte
	size  int
}

func newPicture(b []byte) (*picture, error) { return &picture{bytes.Clone(b), len(b)}, nil }

func (p *picture) close() {}

// memory is that of one sandbox.
type memory struct{ bytes []byte }

func newMemory() (*memory, error) { return &memory{}, nil }

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if missing := int(size) - len(m.bytes); missing > 0 {
		m.bytes = append(m.bytes, make([]byte, missing)...)
	}
	return m.bytes[:size]
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {}

// show has the memory begin with the picture, for which it is large enough already.
func (m *memory) show(p *picture) error {
	copy(m.bytes, p.bytes)
	return nil
}

// release gives the memory back. Nothing may use it any more.
func (m *memory) release() {}
