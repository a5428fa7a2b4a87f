package house

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors say what a package of the house may import of the house: imports
// point down only. A folder stands for everything below it unless it is named
// itself.
var floors = []struct {
	pkg     string
	imports []string
}{
	{"internal/shed", nil},
	{"internal/smallmap", nil},
	{"internal/gctuning", nil},
	{"internal/redact", nil},
	{"internal/pressure", nil},
	{"internal/restart", []string{"internal/smallmap"}},
	{"internal/scan", nil},
	{"internal/statedir", nil},
	{"internal/version", nil},
	{"internal/logs", []string{"internal/redact"}},
	{"internal/tracing", []string{"internal/logs"}},
	{"messages", []string{"internal/redact", "internal/scan"}},
	{"messages/mail", []string{"messages"}},
	{"internal/egress", []string{"messages"}},
	{"internal/nodeurl", []string{"messages"}},
	{"internal/config", []string{"internal/egress", "internal/nodeurl", "messages"}},
	{"internal/token", []string{"internal/redact", "messages"}},
	{"internal/browser", []string{"internal/redact", "messages"}},
	{"internal/rawcdp/protocol", nil},
	{"internal/rawcdp/gen", []string{"internal/rawcdp/protocol"}},
	{"internal/rawcdp", []string{"messages"}},
	{"internal/call", []string{"messages/mail"}},
	{"internal/guard", []string{"internal/call", "internal/smallmap", "internal/redact", "internal/restart", "messages", "messages/mail"}},
	{"transport/quirks", []string{"messages"}},
	{"transport", []string{"internal/redact", "internal/scan", "messages", "transport/quirks"}},
	{"transport/remoting", nil},
	{"messages/wire", nil},
	{"internal/backend", []string{"messages", "transport"}},
	{"metrics", []string{"internal/shed", "internal/guard", "internal/version", "messages", "transport"}},
	{"actors/ledger", []string{"internal/call", "messages", "messages/mail"}},
	{"actors/session/wanted", []string{"messages", "messages/mail"}},
	{"actors/session/effect", []string{"messages", "messages/mail"}},
	{"actors/session/clip", nil},
	{"actors/session/bridge", []string{"actors/session/clip", "actors/session/effect", "internal/smallmap", "messages", "messages/mail", "transport/quirks"}},
	{"actors/session/decode", []string{"actors/session/bridge", "actors/session/clip", "actors/session/effect", "internal/redact", "internal/scan", "messages", "messages/mail", "transport"}},
	{"actors/session/page", []string{"actors/session/bridge", "actors/session/decode", "actors/session/effect", "actors/session/wanted", "internal/redact", "messages", "messages/mail", "actors/supervisor/admit", "transport/quirks"}},
	{"actors/session/link", []string{"actors/session/bridge", "actors/session/clip", "actors/session/decode", "actors/session/effect", "internal/smallmap", "messages", "messages/mail", "transport/quirks"}},
	{"actors/session/sessiontest", []string{"actors/session/decode", "actors/session/effect", "internal/call/calltest", "messages", "messages/mail", "transport/quirks"}},
	{"actors/session", []string{"actors/ledger", "internal/shed", "internal/guard", "messages", "messages/mail", "transport", "actors/supervisor/admit", "transport/quirks"}},
	{"actors/dialog", []string{"actors/ledger", "internal/shed", "internal/redact", "internal/smallmap", "internal/guard", "messages", "messages/mail", "transport/quirks"}},
	{"actors/frame", []string{"internal/shed", "internal/smallmap", "internal/guard", "internal/redact", "messages", "messages/mail"}},
	{"actors/supervisor/admit", []string{"messages", "transport/quirks"}},
	{"actors/supervisor/party", []string{"messages"}},
	{"actors/supervisor/blocker", []string{"internal/redact", "messages", "messages/mail"}},
	{"actors/console", []string{"messages"}},
	{"actors/supervisor/model", []string{
		"actors/session/bridge", "actors/session/effect", "actors/session/page", "actors/supervisor/admit", "actors/supervisor/blocker", "internal/backend", "internal/redact", "internal/smallmap", "messages", "messages/mail", "transport",
	}},
	{"actors/supervisor/step", []string{"actors/session/bridge", "actors/supervisor/model", "actors/supervisor/party", "messages", "messages/mail"}},
	{"actors/supervisor/mechanism", []string{"actors/session/effect", "actors/supervisor/model", "actors/supervisor/step", "internal/backend", "internal/smallmap", "messages", "messages/mail"}},
	{"actors/supervisor/task", []string{
		"actors/console", "actors/dialog", "actors/session", "actors/session/bridge", "actors/session/effect", "actors/session/link", "actors/session/page",
		"actors/session/wanted", "actors/supervisor/admit", "actors/supervisor/blocker", "actors/supervisor/mechanism", "actors/supervisor/model", "actors/supervisor/party", "actors/supervisor/step",
		"internal/smallmap", "messages", "messages/mail",
	}},
	{"actors/supervisor/view", []string{"actors/session", "actors/supervisor/admit", "internal/smallmap", "messages"}},
	{"actors/supervisor", []string{
		"actors/dialog", "actors/frame", "actors/ledger", "actors/session", "actors/session/bridge", "actors/session/effect", "actors/session/link", "actors/session/page", "actors/session/wanted",
		"internal/backend", "internal/shed", "internal/smallmap", "internal/guard", "internal/redact", "internal/restart", "messages", "messages/mail", "transport",
	}},
	{"actors/registry", []string{"actors/supervisor", "actors/supervisor/view", "internal/shed", "internal/guard", "internal/pressure", "messages", "messages/mail"}},
	{"internal/cluster/store", nil},
	{"internal/cluster/store/etcdlog", nil},
	{"internal/cluster/store/etcd", []string{"internal/cluster/store", "internal/cluster/store/etcdlog"}},
	{"internal/cluster/store/voter", []string{"internal/cluster/store/etcdlog"}},
	{"internal/cluster/placement", nil},
	{"internal/cluster/clock", []string{"internal/cluster/lease"}},
	{"internal/cluster/lease", []string{"internal/cluster/placement", "internal/cluster/store"}},
	{"internal/cluster/member", []string{"internal/cluster/lease", "internal/cluster/store"}},
	{"internal/cluster/seal", nil},
	{"internal/cluster/certs", []string{"internal/cluster/lease", "internal/cluster/seal"}},
	{"internal/cluster/instance", nil},
	{"internal/cluster", []string{"internal/cluster/clock", "internal/cluster/lease", "internal/cluster/member", "internal/cluster/seal", "internal/cluster/store", "internal/cluster/store/voter", "messages", "messages/mail", "metrics"}},
	{"internal/node/spans", []string{"internal/backend", "messages", "transport"}},
	{"internal/node/command", []string{"actors/session", "actors/supervisor/admit", "actors/supervisor/view", "internal/rawcdp", "messages", "messages/mail", "transport/quirks"}},
	{"internal/node", []string{
		"actors/registry", "internal/call", "actors/session", "actors/session/decode", "actors/session/page", "actors/supervisor", "actors/supervisor/admit", "actors/supervisor/model", "actors/supervisor/view", "internal/backend", "internal/shed", "internal/browser", "internal/egress", "internal/smallmap", "internal/guard", "internal/logs",
		"internal/pressure", "internal/rawcdp", "internal/statedir",
		"messages", "messages/mail", "metrics", "transport", "transport/quirks",
	}},
	{"internal/request", []string{"messages"}},
	{".", []string{"internal/browser", "internal/node", "internal/request", "messages", "transport"}},
	{"internal/ui", nil},
	{"internal/gate", []string{"internal/logs", "internal/shed", "internal/token", "messages"}},
	{"internal/gateway/view", []string{"internal/rawcdp", "messages"}},
	{"internal/gateway/memory", []string{"actors/session/wanted", "internal/scan", "messages"}},
	{"internal/gateway", []string{"actors/supervisor/view", "internal/gate", "internal/rawcdp", "internal/scan", "messages", "messages/mail", "transport", "transport/quirks"}},
	{"internal/run/bundle", nil},
	{"internal/run/sandbox", nil},
	{"internal/run", []string{"internal/run/bundle", "internal/run/sandbox", "messages"}},
	{"internal/artifact", []string{"messages"}},
	{"internal/tools/outline", []string{"internal/redact"}},
	{"internal/tools", []string{"internal/artifact", "internal/redact", "internal/run", "internal/tools/outline", "internal/version", "messages"}},
	{"internal/api", []string{"internal/token", "internal/artifact", "internal/gate", "internal/shed", "internal/logs", "internal/redact", "internal/tools", "internal/ui", "messages"}},
	{"client", []string{"internal/nodeurl", "internal/request", "messages"}},
	{"examples/go", []string{"client", "messages"}},
	{"internal/mcp", []string{"client", "internal/gate", "messages"}},
	{"internal/reference", []string{"internal/api", "messages"}},
	{"internal/demo", []string{"client", "internal/node", "internal/browser", "internal/cluster/certs", "internal/token", "messages"}},
	{"internal/checkup", []string{"messages", "transport"}},
	{"internal/desk", []string{"internal/guard", "messages", "messages/wire", "transport/remoting"}},
	{"examples/remoting", []string{"messages/wire"}},
	{"internal/cli", []string{"internal/api", "internal/artifact", "internal/cluster/certs", "internal/gate", "internal/mcp", "internal/tools", "internal/browser", "client", "internal/checkup", "internal/config", "internal/logs", "internal/nodeurl", "internal/pressure", "internal/statedir", "internal/token", "internal/version", "messages", "transport"}},
	{"cmd/node", []string{"internal/artifact", "internal/desk", "internal/cluster", "internal/cluster/certs", "internal/cluster/instance", "internal/cluster/lease", "internal/cluster/seal", "internal/cluster/store", "internal/cluster/store/etcd", "internal/cluster/store/voter", "metrics", "internal/gateway", "internal/run", "internal/gctuning", "internal/shed", "internal/node", "internal/tracing", "internal/browser", "internal/cli", "internal/demo", "internal/version", "messages"}},

	// What only tests stand on.
	{"holdfasttest", []string{".", "chaos", "internal/api", "internal/artifact", "internal/gate", "internal/gateway", "internal/node", "internal/run", "internal/token", "messages", "transport"}},
	{"chaos/plan", []string{"messages"}},
	{"chaos/sim", nil},
	{"chaos/clustersim", nil},
	{"chaos/hosted", nil},
	{"chaos", []string{"internal/browser", "internal/chromiumtest", "messages", "transport"}},
	{"internal/chromiumtest", []string{"internal/browser", "messages"}},
	{"internal/api/apitest", []string{"internal/run", "internal/gate", "messages"}},
	{"internal/acceptance", nil},
	{"internal/facts", nil},
	{"internal/prometheus", nil},
	{"test", nil},
	{"test/clients", []string{"internal/browser"}},
	{"internal/bench", []string{"internal/nodeurl", "internal/node", "chaos", "chaos/hosted", "internal/shed", "internal/browser", "internal/guard", "messages", "transport"}},
}

// impure is what a machine may not know: it decides, and others act. Two uses
// of time are fine, its types and its arithmetic.
var impure = []string{"context", "sync", "sync/atomic", "math/rand", "math/rand/v2", "os", "net", "net/http", "github.com/anthdm/hollywood/actor"}

// machines are the folders whose packages are pure, but for those in acting and shells.
var machines = []string{"actors/", "internal/restart/", "internal/cluster/lease/", "internal/cluster/placement/"}

// acting are the packages under actors whose files all act. Every other package there is
// pure, but for its files in shells.
var acting = []string{"actors/ledger", "actors/session", "actors/session/sessiontest"}

// shells are the files that act in packages that have a machine as well.
var shells = map[string]bool{
	"actors/dialog/actor.go":     true,
	"actors/frame/actor.go":      true,
	"actors/supervisor/actor.go": true, "actors/supervisor/view/board.go": true, "actors/supervisor/browser.go": true,
	"actors/supervisor/children.go": true, "actors/supervisor/publish.go": true,
	"actors/registry/actor.go": true, "actors/registry/directory.go": true, "actors/registry/gauge.go": true,
	"actors/session/wanted/store.go": true,
}

type source struct {
	name    string // slash-separated, from the root
	imports []string
	text    string
}

// sources are all Go files of the module that are no tests.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		s := source{name: filepath.ToSlash(name), text: read(t, name)}
		for _, i := range file.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, name)
		}
		list = append(list, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		floor, allowed, found := "", []string(nil), false
		for _, f := range floors {
			dir := path.Dir(s.name)
			if (dir == f.pkg || strings.HasPrefix(dir, f.pkg+"/")) && len(f.pkg) > len(floor) {
				floor, allowed, found = f.pkg, f.imports, true
			}
		}
		if !found {
			t.Errorf("%s stands on no floor: add its package to the table with what it may import", s.name)
			continue
		}
		for _, i := range s.imports {
			own, ok := strings.CutPrefix(i, "holdfast")
			if !ok {
				continue
			}
			own = strings.TrimPrefix(own, "/")
			if own == "" {
				own = "."
			}
			if own != floor && !strings.HasPrefix(own, floor+"/") && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s, which is not below %s", s.name, i, floor)
			}
		}
	}
}

func TestMachinesArePure(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range sources(t) {
		if !slices.ContainsFunc(machines, func(dir string) bool { return strings.HasPrefix(s.name, dir) }) {
			continue
		}
		if shells[s.name] {
			seen[s.name] = true
			continue
		}
		if slices.Contains(acting, path.Dir(s.name)) {
			continue
		}
		for _, i := range s.imports {
			if slices.Contains(impure, i) {
				t.Errorf("%s imports %s: a machine decides, its shell acts", s.name, i)
			}
		}
		for _, clock := range []string{"time.Now(", "time.Since(", "time.Sleep(", "time.After(", "time.AfterFunc(", "time.NewTimer("} {
			if strings.Contains(s.text, clock) {
				t.Errorf("%s calls %s): a machine is told the time", s.name, clock)
			}
		}
	}
	for shell := range shells {
		if !seen[shell] {
			t.Errorf("%s is in the table and not in the tree", shell)
		}
	}
}

// root is the repository's, seen from here.
const root = "../.."

// read returns a file of the repository, named from its root.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
