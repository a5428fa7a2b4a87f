package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"holdfast/messages"
)

const (
	// termGrace is how long a browser may take to end when asked.
	termGrace = 3 * time.Second
	// killGrace bounds the wait for processes that were killed; the kernel
	// needs milliseconds, unless one hangs in a system call.
	killGrace = 5 * time.Second
	// endedPoll is how often the end of processes that are not our children is
	// looked for; there is no event for it.
	endedPoll = 5 * time.Millisecond
)

// Process is one launched browser. Its methods are safe for concurrent use.
type Process struct {
	manager  *Manager
	nonce    string
	lease    lease // as it was written before the browser was ready
	cmd      *exec.Cmd
	tree     *tree
	stderr   *stderrReader
	plan     plan
	pipe     *pipeEnds       // nil for a browser with a port
	endpoint messages.CDPURL // set before Launch returns; zero for one with a pipe

	exited  chan struct{} // closed when the browser has ended
	cleaned chan struct{} // closed when its group, profile and lease are gone as well

	greeted  chan error // tells once whether it has answered over its pipe
	mu       sync.Mutex
	isReaped bool   // the number of its group may be another's from now on
	reason   string // why it ended
	cleanErr error
	isAsked  bool
	isReady  bool // it has answered, or has said where it listens
}

// Endpoint is the browser's DevTools URL; it is zero where there is a Pipe.
func (p *Process) Endpoint() messages.CDPURL { return p.endpoint }

// Pipe returns the node's ends of the browser's pipes; ok is false for a browser with a
// port. Their taker may close them, which ends the browser.
func (p *Process) Pipe() (from, to *os.File, ok bool) {
	if p.pipe == nil {
		return nil, nil, false
	}
	return p.pipe.from, p.pipe.to, true
}

// PID is the browser's process id, and on Linux and macOS the id of its process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Seclusion says how the browser is kept from the node's files, and why not better,
// which may be "".
func (p *Process) Seclusion() (how Seclusion, lacks string) { return p.plan.how, p.plan.lacks }

// HasSandbox says whether Chromium was started with its own sandbox.
func (p *Process) HasSandbox() bool { return p.plan.hasSandbox }

func (p *Process) user() int {
	if p.plan.user != 0 {
		return p.plan.user
	}
	return os.Geteuid()
}

// Exited is closed when the browser has ended, for whatever reason.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// ExitReason says why the browser ended, "" while it runs.
func (p *Process) ExitReason() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reason
}

// Profile is the browser's own temporary profile, gone after Close.
func (p *Process) Profile() string { return p.manager.store.profile(p.nonce) }

// Downloads is a directory of the browser's own for what its pages download, gone after
// Close.
func (p *Process) Downloads() string { return filepath.Join(p.Profile(), downloadDir) }

// Close asks the browser to end, kills its processes if it does not, and
// returns once the processes and the profile are gone. It may be called any
// number of times, also after the browser has ended by itself. When ctx ends
// first they are killed at once. On Windows a browser cannot be asked.
func (p *Process) Close(ctx context.Context) error {
	wait := termGrace
	p.mu.Lock()
	if !p.isAsked {
		p.isAsked = true
		if !p.isReaped && !p.tree.hasAsked() {
			wait = 0
		}
	}
	p.mu.Unlock()
	grace := time.NewTimer(wait)
	defer grace.Stop()
	select {
	case <-p.exited:
	case <-grace.C:
	case <-ctx.Done():
	}
	return p.kill(ctx)
}

// kill ends the group and waits for the clean-up, which is bounded by
// killGrace; ctx only shortens the wait for it.
func (p *Process) kill(ctx context.Context) error {
	p.mu.Lock()
	p.isAsked = true
	p.killLocked()
	p.mu.Unlock()
	select {
	case <-p.cleaned:
	case <-ctx.Done():
		return fmt.Errorf("close browser: %w", ctx.Err())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cleanErr
}

// killLocked kills the browser's processes. Until the leader is reaped its number, and
// with it the group's, cannot be given to another process.
func (p *Process) killLocked() {
	if !p.isReaped {
		p.tree.kill()
	}
}

// failed describes a launch that did not succeed.
func (p *Process) failed(what string) error {
	lines := p.stderr.last()
	err := unavailable("%s", what)
	if len(lines) > 0 {
		err = unavailable("%s; its last words: %s", what, strings.Join(lines[max(0, len(lines)-3):], " | "))
		err = err.With("stderr", lines)
	}
	return err
}

// makeProfile makes a browser's directories, for its user alone; 0 is the node's own.
func makeProfile(profile string, user int) error {
	for _, dir := range []string{"", tmpDir, crashDir, homeDir, downloadDir} {
		path := filepath.Join(profile, dir)
		if err := os.Mkdir(path, 0o700); err != nil {
			return fmt.Errorf("make profile: %w", err)
		}
		if user == 0 {
			continue
		}
		if err := os.Lchown(path, user, user); err != nil {
			return fmt.Errorf("make profile: %w", err)
		}
	}
	return nil
}

// start writes the lease, makes the profile and executes the browser.
// Failed are the reasons why the stronger ways of isolation do not work here.
func (m *Manager) start(path string, o LaunchOptions, failed []error) (_ *Process, err error) {
	l := lease{Version: leaseVersion, Nonce: newNonce(), Boot: m.boot, Owner: m.owner, Node: m.node.id}
	l.Profile = m.store.profile(l.Nonce)
	if err := m.store.write(l); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.store.forget(l.Nonce))
		}
	}()
	plan := m.plan(path, l.Profile, o, failed)
	defer func() {
		if err != nil {
			m.giveBackUser(plan.user)
		}
	}()
	if m.options.Isolation == IsolationRequire && plan.how == SecludedNone {
		return nil, fmt.Errorf("%w: %s", errIsolation, plan.lacks)
	}
	if m.options.Sandbox == SandboxRequire && !plan.hasSandbox {
		return nil, errSandbox
	}
	if err := makeProfile(l.Profile, plan.user); err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	cmd := exec.Command(path, arguments(l.Profile, o, m.options.ExtraArgs, plan.hasSandbox)...)
	cmd.Env = environmentFor(l.Profile, m.options.Env, plan.user != 0 || plan.how == SecludedRules && m.store.isWithin(os.Getenv("HOME")))
	cmd.Stderr = write
	tree, err := newTree(cmd)
	if err != nil {
		_, _ = read.Close(), write.Close()
		return nil, err
	}
	defer func() {
		if err != nil {
			tree.close()
		}
	}()
	var pipe *pipeEnds
	started := func() {}
	if o.transport != TransportPort {
		if pipe, started, err = connectPipes(cmd); err != nil {
			_, _ = read.Close(), write.Close()
			return nil, err
		}
	}
	begun := func(err error) error { return err }
	if plan.how != SecludedNone {
		if begun, err = m.isolate(cmd, l.Profile, plan); err != nil {
			_, _ = read.Close(), write.Close()
			started()
			pipe.close()
			return nil, err
		}
	}
	release, startErr := start(cmd)
	_ = write.Close()
	started()
	if startErr == nil {
		startErr = tree.begin(cmd)
	}
	if err := begun(startErr); err != nil {
		if release != nil { // it was started: the launcher, or one that cannot be owned
			_, _ = cmd.Process.Kill(), cmd.Wait()
			release()
		}
		_ = read.Close()
		pipe.close()
		return nil, err
	}
	// The child is not reaped before watch runs, so its entry is there even if
	// it has ended.
	stat, recordErr := readStat(cmd.Process.Pid)
	if recordErr == nil {
		l.Browser, l.Group = stat.identity, cmd.Process.Pid
		recordErr = m.store.write(l)
	}
	if recordErr != nil {
		// Not fatal: the nonce in the command line proves ownership alone.
		m.log.Warn("browser lease not completed", "pid", cmd.Process.Pid, "err", recordErr)
	}
	p := &Process{
		manager: m, lease: l, nonce: l.Nonce, cmd: cmd, tree: tree, stderr: newStderrReader(), pipe: pipe, plan: plan,
		greeted: make(chan error, 1), exited: make(chan struct{}), cleaned: make(chan struct{}),
	}
	m.mu.Lock()
	m.processes[p] = struct{}{}
	m.mu.Unlock()
	greetingOver := make(chan struct{})
	go func() {
		defer close(greetingOver)
		if pipe != nil {
			p.greeted <- pipe.greet()
		}
	}()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.stderr.run(read)
	}()
	go p.watch(release, func() {
		_ = read.Close()
		<-drained
		pipe.close()
		<-greetingOver
	})
	return p, nil
}

// watch sees the browser's end and removes what it leaves. release unlists
// the child, hangUp stops the reading of its stderr.
func (p *Process) watch(release, hangUp func()) {
	pid := p.cmd.Process.Pid
	awaitExit(pid)
	// The leader is dead but not reaped: the group is still ours to kill.
	p.mu.Lock()
	p.tree.kill()
	p.isReaped = true
	p.mu.Unlock()
	left, err := p.manager.remnants(p.nonce, p.tree)
	waitErr := p.cmd.Wait()
	release()
	reason := "exited with status 0"
	if waitErr != nil {
		reason = waitErr.Error()
	}
	p.mu.Lock()
	asked, how := p.isAsked, p.exitLocked(waitErr)
	p.reason = reason
	p.mu.Unlock()
	p.manager.exited(how)
	if !asked {
		p.manager.log.Warn("browser ended by itself", "pid", pid, "reason", reason)
	}
	hangUp() // no process of the group holds the pipe any more, or it does not matter
	close(p.exited)

	ctx, cancel := context.WithTimeout(context.Background(), killGrace)
	defer cancel()
	err = errors.Join(err, awaitEnded(ctx, left))
	err = errors.Join(err, p.manager.store.forget(p.nonce))
	p.mu.Lock()
	p.cleanErr = err
	p.mu.Unlock()
	if err != nil {
		p.manager.log.Error("browser left something behind", "pid", pid, "err", err)
	}
	p.manager.giveBackUser(p.plan.user)
	p.tree.close()
	p.manager.mu.Lock()
	delete(p.manager.processes, p)
	p.manager.mu.Unlock()
	close(p.cleaned)
}

// remnants are the processes of a browser whose leader is dead and not yet
// reaped: members of its tree, which were killed with it, and crash
// handlers, which live in sessions of their own and are killed here.
func (m *Manager) remnants(nonce string, t *tree) ([]identity, error) {
	var left []identity
	isMember := t.members()
	err := scan(func(s procStat) {
		switch {
		case s.PID == t.leader:
		case isMember(s):
			left = append(left, s.identity)
		case hasFlag(s.PID, m.store.crashFlag(nonce)), hasFlag(s.PID, m.store.flag(nonce)):
			s.hasKilled(func() bool { return m.store.isOwner(nonce, s.PID) })
			left = append(left, s.identity)
		}
	})
	return left, err
}

// awaitEnded returns when none of the processes runs any more.
func awaitEnded(ctx context.Context, processes []identity) error {
	for {
		running := 0
		for _, id := range processes {
			if id.isAlive() {
				running++
			}
		}
		if running == 0 {
			return nil
		}
		if err := pause(ctx, endedPoll); err != nil {
			return fmt.Errorf("%d processes of the browser did not end: %w", running, err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
