package restart_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"holdfast/internal/restart"
)

// TestTranscripts replays the files in testdata; run with -rewrite to accept
// what the machine says now.
//
//	new strategy=rest_for_one intensity=3 period=60s max=5 base=1s cap=30s children=(a,b:transient,c:temporary)
//	start | shutdown | state | advance 5s | due [token]
//	exit a [normal] [excused] [gen=1] [roll=0.5]     default: abnormal, the live generation, roll 1
//	ready a [gen=1] | add a[:type] | remove a | running a | patience a for=30s
func TestTranscripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		tr := &transcript{now: time.Unix(1000, 0)}
		datadriven.RunTest(t, path, tr.run)
	})
}

type transcript struct {
	s     *restart.Supervisor
	now   time.Time
	token uint64 // of the last Wait
}

func (tr *transcript) run(t *testing.T, d *datadriven.TestData) string {
	arg := ""
	if len(d.CmdArgs) > 0 {
		arg = d.CmdArgs[0].Key
	}
	if len(d.CmdArgs) > 0 && len(d.CmdArgs[0].Vals) == 1 && d.Cmd == "add" {
		arg += ":" + d.CmdArgs[0].Vals[0]
	}
	switch d.Cmd {
	case "new":
		return tr.create(t, d)
	case "start":
		return tr.show(tr.s.Start())
	case "advance":
		step, err := time.ParseDuration(arg)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		tr.now = tr.now.Add(step)
		return ""
	case "exit":
		roll := 1.0
		if d.HasArg("roll") {
			var s string
			d.ScanArgs(t, "roll", &s)
			roll, _ = strconv.ParseFloat(s, 64)
		}
		return tr.step(restart.Exited{ID: arg, Gen: tr.gen(t, d, arg), IsAbnormal: !d.HasArg("normal"), IsExcused: d.HasArg("excused"), Roll: roll})
	case "patience":
		var text string
		d.ScanArgs(t, "for", &text)
		patience, err := time.ParseDuration(text)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return tr.step(restart.SetPatience{ID: arg, Patience: patience})
	case "ready":
		return tr.step(restart.Ready{ID: arg, Gen: tr.gen(t, d, arg)})
	case "due":
		token := tr.token
		if arg != "" {
			token, _ = strconv.ParseUint(arg, 10, 64)
		}
		return tr.step(restart.Due{Token: token})
	case "add":
		return tr.step(restart.Add{Child: parseChild(t, d, arg)})
	case "remove":
		return tr.step(restart.Remove{ID: arg})
	case "shutdown":
		return tr.step(restart.Shutdown{})
	case "running":
		gen, ok := tr.s.Running(arg)
		return fmt.Sprintf("gen=%d %v\n", gen, ok)
	case "state":
		return showState(tr.s.State())
	}
	d.Fatalf(t, "unknown command %s", d.Cmd)
	return ""
}

func (tr *transcript) create(t *testing.T, d *datadriven.TestData) string {
	var p restart.Policy
	var children []restart.Child
	for _, a := range d.CmdArgs {
		var err error
		switch a.Key {
		case "strategy":
			p.Strategy = map[string]restart.Strategy{"one_for_one": restart.OneForOne, "one_for_all": restart.OneForAll, "rest_for_one": restart.RestForOne}[a.Vals[0]]
		case "intensity":
			p.Intensity, err = strconv.Atoi(a.Vals[0])
		case "max":
			p.MaxConsecutive, err = strconv.Atoi(a.Vals[0])
		case "period":
			p.Period, err = time.ParseDuration(a.Vals[0])
		case "base":
			p.Backoff.Base, err = time.ParseDuration(a.Vals[0])
		case "cap":
			p.Backoff.Cap, err = time.ParseDuration(a.Vals[0])
		case "children":
			for _, v := range a.Vals {
				children = append(children, parseChild(t, d, v))
			}
		default:
			d.Fatalf(t, "unknown argument %s", a.Key)
		}
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
	}
	if err := p.Validate(); err != nil {
		d.Fatalf(t, "%v", err)
	}
	tr.s = restart.New(p, children...)
	return ""
}

func parseChild(t *testing.T, d *datadriven.TestData, s string) restart.Child {
	id, typ, _ := strings.Cut(s, ":")
	types := map[string]restart.Type{"": restart.Permanent, "permanent": restart.Permanent, "transient": restart.Transient, "temporary": restart.Temporary}
	v, ok := types[typ]
	if !ok {
		d.Fatalf(t, "unknown type %s", typ)
	}
	return restart.Child{ID: id, Type: v}
}

func (tr *transcript) gen(t *testing.T, d *datadriven.TestData, id string) (gen uint64) {
	if d.HasArg("gen") {
		d.ScanArgs(t, "gen", &gen)
		return gen
	}
	for _, c := range tr.s.State() {
		if c.ID == id {
			return c.Gen
		}
	}
	return 0
}

func (tr *transcript) step(ev restart.Event) string { return tr.show(tr.s.Step(tr.now, ev)) }

func (tr *transcript) show(actions []restart.Action) string {
	var b strings.Builder
	for _, a := range actions {
		if w, ok := a.(restart.Wait); ok {
			tr.token = w.Token
		}
		fmt.Fprintln(&b, showAction(a))
	}
	return b.String()
}

func showAction(a restart.Action) string {
	switch a := a.(type) {
	case restart.Start:
		return fmt.Sprintf("start %s gen=%d", a.ID, a.Gen)
	case restart.Stop:
		return fmt.Sprintf("stop %s gen=%d", a.ID, a.Gen)
	case restart.Wait:
		return fmt.Sprintf("wait %v token=%d", a.Delay, a.Token)
	case restart.GiveUp:
		return fmt.Sprintf("give up on %s after %d failures in %v", a.ID, a.Failures, a.For)
	case restart.Done:
		return "done"
	}
	return fmt.Sprintf("unknown action %T", a)
}

func showState(children []restart.ChildState) string {
	var b strings.Builder
	for _, c := range children {
		fmt.Fprintf(&b, "%s %v %v gen=%d failures=%d\n", c.ID, c.Type, c.Phase, c.Gen, c.Failures)
	}
	return b.String()
}
