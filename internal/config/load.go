package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"holdfast/internal/nodeurl"
)

// Sources are where a configuration is read from.
type Sources struct {
	// File is the path of the configuration file; "" is none.
	File string
	// Environ is the environment, NAME=VALUE each. What is set to nothing is
	// not set.
	Environ []string
	// Flags are the values given on the command line, by flag.
	Flags map[string][]string
}

// Origin is where a value came from.
type Origin struct {
	Kind OriginKind `json:"origin"`
	// Where is FILE:LINE:COLUMN, the variable, or the flag; "" for a default.
	Where string `json:"where,omitempty"`
}

// OriginKind is the sort of a source.
type OriginKind string

// The sources, the stronger ones later.
const (
	FromDefault     OriginKind = "default"
	FromFile        OriginKind = "file"
	FromEnvironment OriginKind = "environment"
	FromFlag        OriginKind = "flag"
)

// Effective is a configuration that holds.
type Effective struct {
	Config
	// Warnings are what was not understood but does no harm.
	Warnings []string

	origins []Origin // as table.keys
}

// Origin says where the value of a key came from.
func (e *Effective) Origin(path string) Origin { return e.origins[table.paths[path]] }

// Load reads the sources. The error is a [Problems], or the file's own.
func Load(s Sources) (*Effective, error) {
	if s.File == "" {
		return merge(file{}, s)
	}
	f, err := openFile(s.File)
	return f.merged(err, s)
}

// merged lays the other sources over the file; err is what reading the file came
// to.
func (f file) merged(err error, s Sources) (*Effective, error) {
	var wrong Problems
	if err != nil && !errors.As(err, &wrong) {
		return nil, err
	}
	// What the file has wrong is told with all that is wrong elsewhere.
	e, err := merge(f, s)
	var rest Problems
	if errors.As(err, &rest) {
		wrong = append(wrong, rest...)
	}
	if len(wrong) > 0 {
		return nil, wrong.inOrder()
	}
	return e, nil
}

// merge lays the sources over one another.
func merge(f file, s Sources) (*Effective, error) {
	e := &Effective{origins: make([]Origin, len(table.keys))}
	var problems []Problem
	env := environment(s.Environ)
	to := reflect.ValueOf(&e.Config).Elem()
	for i := range table.keys {
		k := &table.keys[i]
		value, origin := k.def, Origin{Kind: FromDefault}
		try := func(from Origin, name string, texts []string) {
			v, wrong := k.parse(texts)
			if wrong != "" {
				problems = append(problems, Problem{Where: from.Where, Key: name, What: wrong})
				return
			}
			value, origin = v, from
		}
		if w, ok := f.values[k.Path]; ok {
			where := fmt.Sprintf("%s:%d:%d", f.name, w.line, w.col)
			if k.IsSecret && !f.isOwn {
				problems = append(problems, Problem{Where: where, Key: k.Path, What: "is a credential, and others can read the file: chmod 600 it"})
			}
			try(Origin{FromFile, where}, k.Path, w.texts)
		}
		if v := env[k.Env]; v != "" {
			texts := []string{v}
			if k.IsList() {
				texts = strings.Fields(v)
			}
			try(Origin{FromEnvironment, k.Env}, "", texts)
		}
		if texts := s.Flags[k.Flag]; len(texts) > 0 {
			try(Origin{FromFlag, "--" + k.Flag}, "", texts)
		}
		to.FieldByIndex(k.index).Set(reflect.ValueOf(value))
		e.origins[i] = origin
	}
	e.decideCluster()
	wrong := map[string]bool{} // where a value could not be read
	for _, p := range problems {
		wrong[p.Where] = true
	}
	for _, p := range e.check() {
		if !wrong[p.Where] {
			problems = append(problems, p)
		}
	}
	e.Warnings = strangers(env)
	return e, asError(problems)
}

// check is what holds between settings.
func (e *Effective) check() []Problem {
	var out []Problem
	wrong := func(path, what string) {
		p := Problem{Where: e.Origin(path).Where, What: what}
		if k := e.Origin(path).Kind; k == FromFile || k == FromDefault {
			p.Key = path
		}
		out = append(out, p)
	}
	if e.Listen == "" {
		wrong("listen", "must be HOST:PORT or unix:PATH")
	}
	for path, a := range map[string]Address{"listen": e.Listen, "metrics_listen": e.MetricsListen} {
		if a != "" && !a.IsLoopback() && len(e.AllowHosts) == 0 {
			wrong(path, "is open to other machines: say with allow_hosts (--allow-host) under which name they may ask for it")
		}
	}
	if e.AdminListen != "" && !e.AdminListen.IsLoopback() {
		wrong("admin_listen", "must be a loopback address: every client that reaches it can read the node's memory")
	}
	e.checkCluster(wrong)
	if path, what := e.Egress.problem(); path != "" {
		wrong(path, what)
	}
	if e.Drain.Delay >= e.Drain.Timeout {
		wrong("drain.delay", "must be shorter than drain.timeout")
	}
	for path, share := range map[string][2]float64{
		"limits.memory_low": {e.Limits.MemoryLow, e.Limits.MemoryHigh}, "limits.cpu_low": {e.Limits.CPULow, e.Limits.CPUHigh},
	} {
		if low, high := share[0], share[1]; low > 0 && high > 0 && low >= high {
			wrong(path, "must be below "+strings.Replace(path, "low", "high", 1))
		}
	}
	slices.SortFunc(out, func(a, b Problem) int { return strings.Compare(a.Error(), b.Error()) })
	return out
}

// Socket returns the path of a Unix socket, and whether the address is one.
func (a Address) Socket() (path string, ok bool) { return nodeurl.SocketPath(string(a)) }

// IsLoopback says whether only this machine reaches the address.
func (a Address) IsLoopback() bool {
	if _, ok := a.Socket(); ok {
		return true
	}
	host, _, err := net.SplitHostPort(string(a))
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, envPrefix) {
			env[name] = value
		}
	}
	return env
}

// others are variables of ours that are no settings.
var others = []string{"HOLDFAST_CONFIG", "HOLDFAST_NODE", "HOLDFAST_TOKEN"}

// serviceLink are the variables that Kubernetes sets in every pod beside a
// Service whose name begins with ours.
var serviceLink = regexp.MustCompile(`^HOLDFAST_(.*_)?(SERVICE_(HOST|PORT)(_.*)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// strangers warns of variables that look like settings and are none.
func strangers(env map[string]string) []string {
	var out []string
	for name := range env {
		known := slices.Contains(others, name) || serviceLink.MatchString(name) ||
			slices.ContainsFunc(table.keys, func(k Key) bool { return k.Env == name })
		if !known {
			out = append(out, fmt.Sprintf("there is no variable %.64s; it has no effect", name))
		}
	}
	slices.Sort(out)
	return out
}
