package token_test

import (
	"testing"
	"time"

	"holdfast/internal/token"
)

// FuzzParseScope: what is read is written the same, and nothing else is read.
func FuzzParseScope(f *testing.F) {
	for _, text := range []string{"admin", "tenant ann", "task ann:x until 1700000000", "nothing", "", "admin until x", "task ", "tenant a b", "task a until 1 until 2", "admin until -1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := token.ParseScope(text)
		if err != nil {
			return
		}
		again, err := token.ParseScope(s.Text())
		if err != nil || again != s {
			t.Errorf("%q is %q, and that is %v, %v", text, s.Text(), again, err)
		}
	})
}

func TestScopesOfTokensCanBePassedOn(t *testing.T) {
	t.Parallel()
	admin := token.Generate()
	tenant, err := admin.ForTenant("ann")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	for _, text := range []string{admin.Reveal(), tenant, admin.ForTask("ann:x")} {
		scope, err := admin.Verify(text, now)
		if err != nil {
			t.Fatal(err)
		}
		dated, err := admin.Until(scope, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		ending, err := admin.Verify(dated, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []token.Scope{scope, ending} {
			got, err := token.ParseScope(s.Text())
			if err != nil || got.String() != s.String() || !got.Ends().Equal(s.Ends()) || got.Allows("ann:x") != s.Allows("ann:x") || got.Allows("bob:x") != s.Allows("bob:x") {
				t.Errorf("%s is read as %s until %v: %v", s.Text(), got, got.Ends(), err)
			}
		}
	}
	for _, text := range []string{"", "nothing", "admin ", "task", "task a/b", "tenant ", "task a until 0"} {
		if s, err := token.ParseScope(text); err == nil {
			t.Errorf("%q is read as %s", text, s)
		}
	}
}
