package sandbox

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// picture is the memory of a sandbox as a file without a name. Sandboxes share its pages until
// they write to them.
type picture struct {
	file *os.File
	size int
}

func newPicture(b []byte) (*picture, error) {
	fd, err := unix.MemfdCreate("sandbox", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	p := &picture{os.NewFile(uintptr(fd), "sandbox"), len(b)}
	if _, err := p.file.Write(b); err != nil {
		p.close()
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		p.close()
		return nil, fmt.Errorf("seal: %w", err)
	}
	return p, nil
}

func (p *picture) close() { _ = p.file.Close() }

// memory is that of one sandbox: pages that the kernel gives when they are used.
type memory struct{ bytes []byte }

func newMemory() (*memory, error) {
	b, err := unix.Mmap(-1, 0, MaxMemory, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) // it would cost memory alone
	return &memory{b}, nil
}

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.bytes)) {
		return nil
	}
	return m.bytes[:size]
}

// Free implements experimental.LinearMemory. The memory stays until release: a call of the
// sandbox may have been ended within another one.
func (m *memory) Free() {}

// show has the memory begin with the picture, for which it is large enough already.
func (m *memory) show(p *picture) error {
	_, err := unix.MmapPtr(int(p.file.Fd()), 0, unsafe.Pointer(&m.bytes[0]), uintptr(p.size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	return err
}

// release gives the memory back. Nothing may use it any more.
func (m *memory) release() { _ = unix.Munmap(m.bytes) }
