package browser

import (
	"context"
	"slices"
	"sync"
	"time"
)

// warmPause is how long a launch is put off once a browser was taken: the task that has it
// needs the processors now.
const warmPause = time.Second

// maxWarmRetry bounds the time between launches that fail; it begins with warmPause.
const maxWarmRetry = time.Minute

// warm are browsers that run already, for the next tasks. Each is launched as for a task that
// asks for nothing: headless, with no flags of its own and no proxy.
type warm struct {
	taken chan struct{} // of room for one; the keeper is to look again

	mu    sync.Mutex
	ready []*Process // the oldest first
}

// KeepWarm keeps so many browsers ready until Close. It returns at once, and is called once.
func (m *Manager) KeepWarm(count int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if count <= 0 || m.isClosed {
		return
	}
	m.launching.Go(func() { m.keepWarm(count) })
}

// Warm is how many browsers are ready for tasks to come.
func (m *Manager) Warm() int {
	m.warm.mu.Lock()
	defer m.warm.mu.Unlock()
	return len(m.warm.ready)
}

// keepWarm launches one browser at a time while there are too few.
func (m *Manager) keepWarm(count int) {
	var wait time.Duration
	for {
		pause := time.NewTimer(wait)
		select {
		case <-m.closing.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
		if m.Warm() >= count {
			select {
			case <-m.closing.Done():
				return
			case <-m.warm.taken:
				wait = warmPause
				continue
			}
		}
		p, err := m.launch(context.Background(), LaunchOptions{IsHeadless: true})
		if err != nil {
			if m.closing.Err() == nil {
				m.log.Warn("a browser could not be kept ready", "err", err)
			}
			wait = min(max(2*wait, warmPause), maxWarmRetry)
			continue
		}
		wait = 0
		m.warm.put(p)
		go func() {
			<-p.Exited()
			m.warm.remove(p)
		}()
	}
}

// take returns a browser that is ready for a task with these options, nil where there is none.
func (w *warm) take(o LaunchOptions) *Process {
	if !o.IsHeadless || o.Proxy != "" || o.App != "" || len(o.Args) > 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.ready) > 0 {
		p := w.ready[0]
		w.ready = w.ready[1:]
		w.look()
		select {
		case <-p.exited: // its end is not noted yet
		default:
			return p
		}
	}
	return nil
}

func (w *warm) put(p *Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready = append(w.ready, p)
}

// remove forgets a browser that has ended.
func (w *warm) remove(p *Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.ready, p); i >= 0 {
		w.ready = slices.Delete(w.ready, i, i+1)
		w.look()
	}
}

// look has the keeper look again.
func (w *warm) look() {
	select {
	case w.taken <- struct{}{}:
	default:
	}
}
