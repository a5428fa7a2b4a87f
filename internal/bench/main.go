package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) == 0 {
		args = []string{"run"}
	}
	switch args[0] {
	case "run":
		return run(args[1:])
	case "check":
		return check(args[1:])
	case "scale":
		return scale(args[1:])
	case "docs":
		return publish()
	case "fakes":
		return fakes(args[1:])
	case "nothing":
		return stage.Nothing(os.Stdout)
	case "relay":
		if len(args) != 2 {
			return fmt.Errorf("relay takes a host and port")
		}
		return stage.Relay(args[1], os.Stdout)
	case "worker":
		return work(args[1:])
	}
	return fmt.Errorf("unknown command %s", args[0])
}

// work is a client's process.
func work(args []string) error {
	flags := flag.NewFlagSet("worker", flag.ExitOnError)
	var o worker.Options
	flags.IntVar(&o.Links, "links", 0, "connections of a task")
	flags.StringVar(&o.Bridge, "bridge", "", "what holds a page that asks: native, debugger or request")
	flags.IntVar(&o.Tasks, "tasks", 0, "about how many tasks there will be")
	flags.StringVar(&o.Node, "node", "", "where a node serves")
	flags.StringVar(&o.Token, "token", "", "what opens it")
	flags.StringVar(&o.Profile, "profile", "", "file for a CPU profile, and with .heap behind it for the last one of the heap")
	_ = flags.Parse(args) // it exits
	return profiled(o.Profile, func() error { return worker.Serve(flags.Arg(0), o, os.Stdin, os.Stdout) })
}

// fakes is the fake browsers' process.
func fakes(args []string) error {
	flags := flag.NewFlagSet("fakes", flag.ExitOnError)
	profile := flags.String("profile", "", "file for a CPU profile")
	_ = flags.Parse(args) // it exits
	return profiled(*profile, func() error { return stage.ServeFakes(os.Stdin, os.Stdout) })
}

// profiled leaves a CPU profile of what is done in a file, unless it has no name.
func profiled(file string, do func() error) error {
	if file == "" {
		return do()
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do()
}

// run measures, and says it on the terminal and in a file.
func run(args []string) error {
	flags := flag.NewFlagSet("run", flag.ExitOnError)
	only := flags.String("only", "", "measurements to run, separated by commas; all of them without")
	file := flags.String("json", "", "file to put the figures into, in the place of older ones of the same measurements")
	_ = flags.Parse(args) // it exits
	report, err := figure.Read(*file)
	if err != nil {
		return err
	}
	var names []string
	for _, m := range measurements {
		names = append(names, m.name)
	}
	report.Keep(names)
	return runAll(*only, func(m figure.Measurement) error {
		report.Put(m)
		if *file == "" {
			return nil
		}
		return report.Write(*file)
	})
}

// check measures, says what has moved since the stored figures, and fails where
// something of Holdfast's has become worse.
func check(args []string) error {
	flags := flag.NewFlagSet("check", flag.ExitOnError)
	only := flags.String("only", "", "measurements to run, separated by commas; all of them without")
	file := flags.String("baseline", "", "figures to compare with; "+figuresFile+" without")
	_ = flags.Parse(args) // it exits
	if *file == "" {
		b, err := newBench()
		if err != nil {
			return err
		}
		*file = filepath.Join(b.root, figuresFile)
	}
	older, err := figure.Read(*file)
	if err != nil {
		return err
	}
	var moved, worse []figure.Change
	err = runAll(*only, func(m figure.Measurement) error {
		was := older.Get(m.Name)
		if was == nil {
			fmt.Printf("%s is not in %s\n", m.Name, *file)
			return nil
		}
		for _, c := range figure.Compare(was, &m) {
			if c.HasMoved {
				moved = append(moved, c)
			}
			if c.HasMoved && c.IsWorse && c.IsOurs {
				worse = append(worse, c)
			}
		}
		return nil
	})
	for _, c := range moved {
		fmt.Println(c)
	}
	switch {
	case err != nil:
		return err
	case len(worse) > 0:
		return fmt.Errorf("%d figures are worse than the stored ones, by more than the noise", len(worse))
	case len(moved) == 0:
		fmt.Println("nothing has moved")
	}
	return nil
}

// runAll runs the measurements that are chosen, writes their tables, and hands
// each to done. One that fails does not keep the others.
func runAll(only string, done func(figure.Measurement) error) error {
	b, err := newBench()
	if err != nil {
		return err
	}
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	var failed []string
	for _, m := range measurements {
		if !chosen[m.name] {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", m.name, m.what)
		measured, err := b.measure(m.name, m.run)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			failed = append(failed, m.name)
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %.0f s\n", m.name, measured.Took)
		for _, t := range measured.Tables {
			fmt.Println(t.Text())
		}
		if err := done(measured); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("not measured: %s", strings.Join(failed, ", "))
	}
	return nil
}

func newBench() (*bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return nil, fmt.Errorf("the repository: %w", err)
	}
	return &bench{self: self, root: strings.TrimSpace(string(root))}, nil
}

// choose is what a list of names means; nothing means everything.
func choose(list string) (map[string]bool, error) {
	chosen := map[string]bool{}
	var known []string
	for _, m := range measurements {
		known = append(known, m.name)
		chosen[m.name] = list == ""
	}
	if list == "" {
		return chosen, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no measurement %s; there are %s", name, strings.Join(known, ", "))
		}
		chosen[name] = true
	}
	return chosen, nil
}
