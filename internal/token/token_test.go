package token_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/token"
	"holdfast/messages"
)

func TestScopes(t *testing.T) {
	t.Parallel()
	a := token.Generate()
	tenant, err := a.ForTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, tok string) token.Scope {
		t.Helper()
		s, ok := a.Check(tok)
		if !ok {
			t.Fatal("own token refused")
		}
		return s
	}
	t.Run("the admin token is good for every task", func(t *testing.T) {
		t.Parallel()
		if s := check(t, a.Reveal()); !s.Allows("x") || !s.Allows("acme:x") {
			t.Fatal(s)
		}
	})
	t.Run("a task token is good for its task alone, dots in the id or not", func(t *testing.T) {
		t.Parallel()
		for _, id := range []messages.TaskID{"one", "a.b.c", "acme:one"} {
			s := check(t, a.ForTask(id))
			if !s.Allows(id) || s.Allows(id+"x") || s.Allows(id[:len(id)-1]) {
				t.Fatal(s)
			}
			if _, ok := s.IDPrefix(); ok {
				t.Fatal("a task token may not make other tasks")
			}
		}
	})
	t.Run("a tenant token is good for ids behind its colon", func(t *testing.T) {
		t.Parallel()
		s := check(t, tenant)
		if !s.Allows("acme:one") || s.Allows("acme") || s.Allows("acmes:one") || s.Allows("one") {
			t.Fatal(s)
		}
		if p, ok := s.IDPrefix(); !ok || p != "acme:" {
			t.Fatal(p, ok)
		}
	})
	t.Run("a task's MAC is no tenant's", func(t *testing.T) {
		t.Parallel()
		forged := "hfn." + strings.TrimPrefix(a.ForTask("acme"), "hft.")
		if _, ok := a.Check(forged); ok {
			t.Fatal("accepted")
		}
	})
	t.Run("another node's tokens are good for nothing", func(t *testing.T) {
		t.Parallel()
		b := token.Generate()
		for _, tok := range []string{a.Reveal(), a.ForTask("one"), tenant} {
			if s, ok := b.Check(tok); ok || s.Allows("one") {
				t.Fatal("accepted")
			}
		}
	})
	t.Run("nothing is good without an admin token", func(t *testing.T) {
		t.Parallel()
		var none token.Admin
		for _, tok := range []string{"", none.Reveal(), none.ForTask("one")} {
			if _, ok := none.Check(tok); ok {
				t.Fatal("accepted")
			}
		}
	})
	t.Run("bad tenants are refused", func(t *testing.T) {
		t.Parallel()
		for _, p := range []string{"", "a b", "a/b", strings.Repeat("x", 127)} {
			if _, err := a.ForTenant(p); messages.CodeOf(err) != messages.CodeInvalidArgument {
				t.Fatal(p, err)
			}
		}
	})
}

func adminScope(t testing.TB, a token.Admin) token.Scope {
	t.Helper()
	s, err := a.Verify(a.Reveal(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSecurity21: a token that ends says so afterwards, and no other time or scope can
// be put into it.
func TestSecurity21_TokensEnd(t *testing.T) {
	t.Parallel()
	a := token.Generate()
	now := time.Unix(1_700_000_000, 0)
	tenant, err := token.TenantScope("acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, scope := range []token.Scope{token.TaskScope("one"), token.TaskScope("a.b.17"), tenant, adminScope(t, a)} {
		tok, err := a.Until(scope, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Verify(tok, now.Add(time.Hour-time.Second))
		if err != nil || got.String() != scope.String() || !got.Ends().Equal(now.Add(time.Hour)) {
			t.Errorf("%s: %s, %v", scope, got, err)
		}
		if _, err := a.Verify(tok, now.Add(time.Hour)); !errors.Is(err, token.ErrExpired) {
			t.Errorf("%s at its end: %v", scope, err)
		}
		for _, forged := range []string{
			strings.Replace(tok, "1700003600", "1800003600", 1), strings.Replace(tok, "1700003600", "01700003600", 1),
			strings.Replace(tok, ".1700003600", "", 1), "hft.one" + tok[strings.LastIndex(tok, ".1700"):][:11] + "x",
			strings.Replace(tok, tok[:4], "hfa.", 1) + "x", strings.Replace(tok, "one", "two", 1) + "x",
		} {
			if s, err := a.Verify(forged, now); !errors.Is(err, token.ErrUnknown) || s != (token.Scope{}) {
				t.Errorf("%s: accepted %s", scope, s)
			}
		}
		// One made of it ends no later.
		longer, err := a.Until(got, now.Add(48*time.Hour))
		if err != nil || longer != tok {
			t.Errorf("%s: its end was put off: %v", scope, err)
		}
	}
	if _, err := a.Until(tenant, time.Time{}); err == nil {
		t.Error("a token that ended before it began")
	}
	// Old tokens stay good, also where they look like new ones.
	if s, err := a.Verify(a.ForTask("a.1700003600"), now); err != nil || s.String() != "task a.1700003600" || !s.Ends().IsZero() {
		t.Errorf("%s, %v", s, err)
	}
}

func TestAdminNeverPrints(t *testing.T) {
	t.Parallel()
	a := token.Generate()
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "token", a, "in", struct{ A token.Admin }{a})
	js, err := json.Marshal(map[string]any{"a": a, "p": &a})
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%v %+v %#v %s %q %v %+v", a, a, a, a, a, struct{ A token.Admin }{a}, &struct{ a token.Admin }{a})
	for _, s := range []string{logged.String(), string(js), out} {
		if strings.Contains(s, a.Reveal()) {
			t.Fatalf("the token is in %q", s)
		}
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	t.Run("it is created once, for its owner alone", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "state", "token")
		tokens := make([]string, 16)
		var wg sync.WaitGroup
		for i := range tokens {
			wg.Go(func() {
				a, err := token.LoadOrCreate(path)
				if err != nil {
					t.Error(err)
				}
				tokens[i] = a.Reveal()
			})
		}
		wg.Wait()
		for _, tok := range tokens {
			if tok != tokens[0] || len(tok) != 43 {
				t.Fatalf("%d characters, or two winners", len(tok))
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 {
			t.Fatal(info.Mode())
		}
		left, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		if len(left) != 1 {
			t.Fatal("temporary files are left", left)
		}
	})
	t.Run("one that others can read is refused", func(t *testing.T) {
		t.Parallel()
		for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o602, 0o644} {
			path := filepath.Join(t.TempDir(), "token")
			if _, err := token.LoadOrCreate(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if _, err := token.LoadOrCreate(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
				t.Fatal(mode, err)
			}
		}
	})
	t.Run("root may lend one to a group of the node, read-only", func(t *testing.T) {
		t.Parallel()
		const node, other = 10001, 10002
		for _, c := range []struct {
			mode        fs.FileMode
			owner, self int
			want        bool
		}{
			{0o600, node, node, true},
			{0o400, node, node, true},
			{0o440, node, node, false}, // it can chmod what is its own
			{0o440, 0, node, true},
			{0o640, 0, node, true},
			{0o440, 0, 0, false},
			{0o460, 0, node, false},
			{0o444, 0, node, false},
			{0o441, 0, node, false},
			{0o440, other, node, false},
		} {
			if got := token.Private(c.mode, c.owner, c.self); got != c.want {
				t.Errorf("mode %04o of %d for %d: %v", c.mode, c.owner, c.self, got)
			}
		}
	})
	t.Run("another user's file is no node's", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() != 0 {
			t.Log("it takes root to make another user's file; the rest of the tests holds")
			return
		}
		path := filepath.Join(t.TempDir(), "token")
		if _, err := token.LoadOrCreate(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := token.LoadOrCreate(path); err == nil || !strings.Contains(err.Error(), "65534") {
			t.Errorf("a node takes it: %v", err)
		}
		if _, err := token.Load(path); err != nil {
			t.Errorf("root cannot send it: %v", err)
		}
	})
	t.Run("what is no token is refused and not repeated", func(t *testing.T) {
		t.Parallel()
		for _, content := range []string{"", "short-secret", strings.Repeat("x", 4096), strings.Repeat("ü", 50)} {
			path := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := token.Load(path)
			if err == nil || content != "" && strings.Contains(err.Error(), content) {
				t.Fatal(err)
			}
		}
		if _, err := token.Load(t.TempDir()); err == nil {
			t.Fatal("a directory was read")
		}
	})
}

// FuzzCheck: no string but those that were made is good for anything.
func FuzzCheck(f *testing.F) {
	a, err := token.ParseAdmin(strings.Repeat("A", 43))
	if err != nil {
		f.Fatal(err)
	}
	tenant, err := a.ForTenant("acme")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", "hft.", "hft..", "hft.one.", "hfn.acme.x", a.Reveal(), a.ForTask("one"), tenant, "hft.one." + a.Reveal()} {
		f.Add(s)
	}
	for _, scope := range []token.Scope{token.TaskScope("one"), token.TaskScope("a.1"), adminScope(f, a)} {
		s, err := a.Until(scope, time.Unix(32503680000, 0))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		scope, ok := a.Check(s)
		if !ok {
			if scope != (token.Scope{}) {
				t.Fatal("a refused token has a scope")
			}
			return
		}
		if end := scope.Ends(); !end.IsZero() {
			if made, err := a.Until(scope, end); err != nil || made != s {
				t.Fatalf("accepted %q as %s until %v", s, scope, end)
			}
			return
		}
		// The three forms are canonical: whatever is accepted can be made.
		kind, name, _ := strings.Cut(scope.String(), " ")
		var made string
		switch kind {
		case "admin":
			made = a.Reveal()
		case "task":
			made = a.ForTask(messages.TaskID(name))
		case "tenant":
			made, _ = a.ForTenant(name)
		}
		if made != s {
			t.Fatalf("accepted %q as %s", s, scope)
		}
	})
}
