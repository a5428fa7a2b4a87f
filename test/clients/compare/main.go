package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"holdfast/test/clients"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// root is the repository's folder; the program runs in that of the module.
const root = "../.."

func command(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "docs" {
		return publish(root)
	}
	flags := flag.NewFlagSet("compare", flag.ExitOnError)
	names := flags.String("servers", "", "servers, separated by commas; all of them without")
	only := flags.String("tasks", "", "tasks, separated by commas; all of them without")
	file := flags.String("json", "", "file for the results, in the place of older ones of the same tasks")
	verbose := flags.Bool("v", false, "print each call")
	if len(args) > 0 && args[0] == "run" {
		args = args[1:]
	}
	_ = flags.Parse(args) // it exits
	chosen := slices.DeleteFunc(slices.Clone(servers), func(s server) bool { return !isNamed(*names, s.name) })
	list := slices.DeleteFunc(slices.Clone(tasks), func(t task) bool { return !isNamed(*only, t.name) })
	if len(chosen) == 0 || len(list) == 0 {
		return errors.New("nothing is chosen")
	}
	r := &runner{}
	if *verbose {
		r.log = os.Stderr
	}
	report, err := r.compare(ctx, chosen, list)
	if err != nil {
		return err
	}
	fmt.Println(report.table())
	if *file == "" {
		return nil
	}
	return report.mergeInto(*file)
}

// isNamed says whether a list of names has the name; an empty one has all.
func isNamed(list, name string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), name)
}

// taskLimit is how long a task may take; what takes longer is not solved.
const taskLimit = 90 * time.Second

// runner does tasks.
type runner struct {
	log    io.Writer
	dir    string
	places places
	site   *site
}

// compare does every task by every server, one after the other: each has the machine for itself.
func (r *runner) compare(ctx context.Context, chosen []server, list []task) (*report, error) {
	dir, err := os.MkdirTemp("", "holdfast-compare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r.dir = dir
	if r.places.modules, err = filepath.Abs("programs/node_modules"); err != nil {
		return nil, err
	}
	if r.places.binary, err = clients.Build(ctx, dir); err != nil {
		return nil, err
	}
	if r.site, err = serve(); err != nil {
		return nil, err
	}
	defer r.site.close()
	out := &report{Source: source(r.places)}
	for _, s := range chosen {
		out.Servers = append(out.Servers, result{Name: s.name, Version: version(r.places, s)})
	}
	for _, t := range list {
		for i, s := range chosen {
			done := r.one(ctx, s, t, &out.Servers[i])
			fmt.Fprintf(os.Stderr, "%-32s %-20s %s\n", t.name, s.name, done)
			out.Servers[i].Tasks = append(out.Servers[i].Tasks, done)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// one does a task by a server: both, and the browser, are started for it.
func (r *runner) one(ctx context.Context, s server, t task, of *result) (done outcome) {
	done.Task = t.name
	run := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return c
		}
		return '-'
	}, s.name+" "+t.name)
	fail := func(err error) outcome {
		done.Failure = shorten(strings.ReplaceAll(err.Error(), r.dir, ""), 300)
		return done
	}
	dir, err := os.MkdirTemp(r.dir, "task-")
	if err != nil {
		return fail(err)
	}
	chrome, err := launch(ctx, filepath.Join(dir, "browser"))
	if err != nil {
		return fail(err)
	}
	defer func() { _ = chrome.close() }() // what is left ends with the folder's owner
	session := &session{dir: dir, log: r.log}
	hands := s.hands(r.places, session)
	if err := session.connect(ctx, hands.command(chrome.address, dir)); err != nil {
		return fail(err)
	}
	defer session.close()
	if of.Tools == 0 {
		if of.Tools, of.DefinitionChars, err = session.definitions(ctx); err != nil {
			return fail(err)
		}
	}
	if err := hands.ready(ctx); err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, taskLimit)
	defer cancel()
	session.start()
	err = t.do(ctx, &agent{hands: hands, site: r.site, run: run, dir: dir, cut: chrome.cut})
	done.Calls, done.Chars, done.Seconds = session.calls, session.chars, session.took.Seconds()
	done.Solved = r.isSolved(run, t)
	if err != nil {
		return fail(err)
	}
	if !done.Solved {
		return fail(fmt.Errorf("the page says %v", r.site.state(run)))
	}
	return done
}

// sayPatience is how long a page's word may take to the site.
const sayPatience = 2 * time.Second

// isSolved says whether the page has said what is wanted.
func (r *runner) isSolved(run string, t task) bool {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if isMet(r.site.state(run), t.want, codeOf(run)) {
			return true
		}
		if time.Since(began) > sayPatience {
			return false
		}
	}
}

// isMet says whether a state has all that is wanted.
func isMet(state, want map[string]string, code string) bool {
	for key, value := range want {
		if state[key] != strings.ReplaceAll(value, "CODE", code) {
			return false
		}
	}
	return true
}
