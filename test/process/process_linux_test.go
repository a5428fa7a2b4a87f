package process_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/metrics"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"holdfast"
	"holdfast/holdfasttest"
	"holdfast/messages"
)

// state is what of a process a library may not change.
func state(t *testing.T) string {
	t.Helper()
	m := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(m)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	var signals []string
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "SigCgt:") || strings.HasPrefix(line, "SigIgn:") || strings.HasPrefix(line, "SigBlk:") {
			signals = append(signals, strings.TrimSpace(line))
		}
	}
	if len(signals) != 3 {
		t.Fatalf("the kernel tells no signals: %s", status)
	}
	var subreaper int32
	if err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&subreaper)), 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	mask := unix.Umask(0)
	unix.Umask(mask)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("GOGC %d\nmemory limit %d\n%s\nsubreaper %d\nfiles %d\numask %o\nin %s\n%s",
		m[0].Value.Uint64(), m[1].Value.Uint64(), strings.Join(signals, "\n"), subreaper, files.Cur, mask, dir, strings.Join(os.Environ(), "\n"))
}

// crowd is more starts than the program of the node takes for many.
const crowd = 40

// TestANodeChangesNothingOfItsProcess: garbage collection, environment, signals, limits and
// orphans are the program's to decide. Not parallel: there is one of each.
func TestANodeChangesNothingOfItsProcess(t *testing.T) {
	b := holdfasttest.NewBrowser()
	defer b.Close()
	logger := slog.Default()
	before := state(t)
	node, err := holdfast.Start(t.Context(), b.Option(), holdfast.WithStateDir(t.TempDir()), holdfast.WithLimits(messages.Limits{MemoryHigh: -1}),
		holdfast.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range crowd {
		if _, err := node.Task(t.Context(), messages.TaskID(fmt.Sprint("t", i))); err != nil {
			t.Fatal(err)
		}
	}
	if now := state(t); now != before {
		t.Errorf("with %d tasks the process has\n%s\nand had\n%s", crowd, now, before)
	}
	if err := node.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if now := state(t); now != before {
		t.Errorf("after the node the process has\n%s\nand had\n%s", now, before)
	}
	if slog.Default() != logger {
		t.Error("the default logger is another one")
	}
}
