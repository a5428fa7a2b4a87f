package lease_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/store"
)

// TestTranscripts replays the files in testdata; run with -rewrite to accept what the
// machine says now.
//
//	new NAME [instance=I] [predecessor=I] [era=N]       default: the instance is NAME.1
//	at 1s | wall +1s                            the clock since boot; the wall clock steps
//	woke | listfailed | drain | leave | cordon | uncordon | gathered TASK | kept TASK | movable | misplaced | handover TASK [to=NODE] | end TASK | claim TASK | era N
//	listed REVISION                             with one entry a line, as in see
//	see | gone                                  with lines KEY CREATED CHANGED VALUE; of gone CREATED is 0
//	done ATTEMPT REVISION | refused ATTEMPT REVISION | unknown ATTEMPT
//	joined                                      new, found and joined at revision 5, by node a
//	state | decides TASK
func TestTranscripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		tr := &transcript{}
		datadriven.RunTest(t, path, tr.run)
	})
}

type transcript struct {
	m     *lease.Machine
	boot  time.Duration
	ahead time.Duration
}

func (tr *transcript) now() lease.Reading {
	return lease.Reading{Boot: tr.boot, Wall: tr.boot + 1_700_000_000*time.Second + tr.ahead}
}

func (tr *transcript) run(t *testing.T, d *datadriven.TestData) string {
	arg := func(i int) string {
		if len(d.CmdArgs) <= i {
			d.Fatalf(t, "%s wants more arguments", d.Cmd)
		}
		return d.CmdArgs[i].Key
	}
	number := func(i int) int64 {
		n, err := strconv.ParseInt(arg(i), 10, 64)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return n
	}
	length := func(s string) time.Duration {
		l, err := time.ParseDuration(s)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return l
	}
	switch d.Cmd {
	case "new":
		tr.create(t, d, arg(0))
		return tr.step(lease.Woke{})
	case "joined":
		tr.create(t, d, "a")
		tr.boot = time.Second
		tr.step(lease.Woke{})
		tr.step(lease.Listed{Listing: store.Listing{Revision: 4}})
		tr.step(lease.Answered{Attempt: 1, Result: store.Result{IsDone: true, Revision: 4}})
		tr.boot += 30 * time.Millisecond
		tr.step(lease.Woke{})
		tr.step(lease.Answered{Attempt: 2, Result: store.Result{IsDone: true, Revision: 5}})
		return tr.m.State()
	case "at":
		tr.boot = length(arg(0))
		return ""
	case "wall":
		tr.ahead += length(arg(0))
		return ""
	case "woke":
		return tr.step(lease.Woke{})
	case "listed":
		return tr.step(lease.Listed{Listing: store.Listing{Revision: number(0), Entries: entries(t, d)}})
	case "listfailed":
		return tr.step(lease.ListFailed{})
	case "see", "gone":
		var out strings.Builder
		for _, e := range entries(t, d) {
			out.WriteString(tr.step(lease.Changed{Event: store.Event{Entry: e, IsDelete: d.Cmd == "gone"}}))
		}
		return out.String()
	case "done":
		return tr.step(lease.Answered{Attempt: uint64(number(0)), Result: store.Result{IsDone: true, Revision: number(1)}})
	case "refused":
		return tr.step(lease.Answered{Attempt: uint64(number(0)), Result: store.Result{Revision: number(1), Found: entries(t, d)}})
	case "unknown":
		return tr.step(lease.Answered{Attempt: uint64(number(0)), IsUnknown: true})
	case "gathered":
		_, _, epoch, _ := tr.m.Owner(arg(0))
		return tr.step(lease.Gathered{Task: arg(0), Epoch: epoch})
	case "kept":
		_, _, epoch, _ := tr.m.Owner(arg(0))
		return tr.step(lease.Kept{Task: arg(0), Epoch: epoch})
	case "movable", "misplaced":
		tasks, hasHeir := tr.m.Movable(d.Cmd == "misplaced")
		return fmt.Sprintf("%v heir=%v\n", tasks, hasHeir)
	case "handover":
		var heir string
		d.MaybeScanArgs(t, "to", &heir)
		return tr.step(lease.HandOver{Task: arg(0), Heir: heir})
	case "claim":
		var spec []byte
		if len(d.CmdArgs) > 1 {
			spec = []byte(arg(1))
		}
		return tr.step(lease.Claim{Task: arg(0), Spec: spec})
	case "end":
		return tr.step(lease.End{Task: arg(0)})
	case "drain":
		return tr.step(lease.Drain{})
	case "cordon", "uncordon":
		return tr.step(lease.Cordon{IsCordoned: d.Cmd == "cordon"})
	case "leave":
		return tr.step(lease.Leave{})
	case "era":
		return tr.step(lease.MetEra{Era: uint32(number(0))})
	case "state":
		return tr.m.State()
	case "standbys":
		list, ok := tr.m.Standbys()
		slices.SortFunc(list, func(a, b lease.Standby) int { return strings.Compare(a.Task, b.Task) })
		out := fmt.Sprintf("%v\n", ok)
		for _, s := range list {
			out += fmt.Sprintf("%s of %q %v spec=%d\n", s.Task, s.Node, s.Epoch, s.SpecRevision)
		}
		return out
	case "decides":
		epoch, ok := tr.m.Decides(arg(0), tr.now())
		return fmt.Sprintf("%v %v\n", ok, epoch)
	}
	d.Fatalf(t, "unknown command %s", d.Cmd)
	return ""
}

func (tr *transcript) create(t *testing.T, d *datadriven.TestData, name string) {
	c := lease.Config{Name: name, Instance: name + ".1", Times: lease.DefaultTimes()}
	d.MaybeScanArgs(t, "instance", &c.Instance)
	d.MaybeScanArgs(t, "predecessor", &c.Predecessor)
	era := 0
	d.MaybeScanArgs(t, "era", &era)
	c.Era = uint32(era)
	if err := c.Validate(); err != nil {
		d.Fatalf(t, "%v", err)
	}
	*tr = transcript{m: lease.New(c)}
}

// entries reads the lines of a command. NODE, a name, stands for a valid node's record.
func entries(t *testing.T, d *datadriven.TestData) []store.Entry {
	var list []store.Entry
	for line := range strings.Lines(d.Input) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(fields) < 3 {
			d.Fatalf(t, "an entry is KEY CREATED CHANGED VALUE: %q", line)
		}
		e := store.Entry{Key: fields[0]}
		var err error
		if e.Created, err = strconv.ParseInt(fields[1], 10, 64); err != nil {
			d.Fatalf(t, "%v", err)
		}
		if e.Changed, err = strconv.ParseInt(fields[2], 10, 64); err != nil {
			d.Fatalf(t, "%v", err)
		}
		if len(fields) == 4 {
			e.Value = []byte(fields[3])
		}
		list = append(list, e)
	}
	return list
}

func (tr *transcript) step(in lease.Input) string {
	var b strings.Builder
	for _, e := range tr.m.Step(tr.now(), in) {
		b.WriteString(showEffect(e))
	}
	return b.String()
}

func showEffect(e lease.Effect) string {
	switch e := e.(type) {
	case lease.Commit:
		var b strings.Builder
		fmt.Fprintf(&b, "commit %d if", e.Attempt)
		tests := map[store.Test]string{store.CreatedAt: "created at", store.NotCreatedAt: "not created at", store.ChangedAt: "changed at"}
		for i, c := range e.Txn.If {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, " %s %s %d", c.Key, tests[c.Test], c.Revision)
		}
		for _, op := range e.Txn.Then {
			if op.IsDelete {
				fmt.Fprintf(&b, "\n  delete %s", op.Key)
			} else {
				fmt.Fprintf(&b, "\n  put %s %s", op.Key, op.Value)
			}
		}
		return b.String() + "\n"
	case lease.List:
		return "list\n"
	case lease.Begin:
		lost := ""
		if e.IsLost {
			lost = " lost"
		}
		return fmt.Sprintf("begin %s %v from %v%s\n", e.Task, e.Epoch, e.NotBefore, lost)
	case lease.Gather:
		return fmt.Sprintf("gather %s %v for %s\n", e.Task, e.Epoch, e.Heir)
	case lease.Resume:
		return fmt.Sprintf("resume %s %v\n", e.Task, e.Epoch)
	case lease.Cease:
		return fmt.Sprintf("cease %s %v: %s\n", e.Task, e.Epoch, e.Why)
	case lease.Stood:
		return strings.TrimSpace(fmt.Sprintf("%s term=%d %s", e.Phase, e.Term, e.Why)) + "\n"
	case lease.Alarm:
		return fmt.Sprintf("alarm %s: %s\n", e.Key, e.Problem)
	}
	return fmt.Sprintf("unknown effect %T\n", e)
}
