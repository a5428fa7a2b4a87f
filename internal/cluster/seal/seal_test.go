package seal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"holdfast/internal/cluster/seal"
)

func sealer(t *testing.T, key string) *seal.Sealer {
	t.Helper()
	s, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsSealedOpensWithItsKeyUnderItsName(t *testing.T) {
	t.Parallel()
	key, secret := seal.NewKey(), []byte("wss://user:pass@host/")
	s := sealer(t, key)
	sealed := s.Seal("tasks/a/spec", secret)
	if bytes.Contains(sealed, []byte("pass")) || bytes.Equal(sealed, s.Seal("tasks/a/spec", secret)) {
		t.Error("it is not sealed")
	}
	if got, err := sealer(t, key).Open("tasks/a/spec", sealed); err != nil || !bytes.Equal(got, secret) {
		t.Errorf("%s, %v", got, err)
	}
	for what, open := range map[string]func() ([]byte, error){
		"another key":  func() ([]byte, error) { return sealer(t, seal.NewKey()).Open("tasks/a/spec", sealed) },
		"another name": func() ([]byte, error) { return s.Open("tasks/b/spec", sealed) },
		"a flipped bit": func() ([]byte, error) {
			broken := bytes.Clone(sealed)
			broken[len(broken)-1] ^= 1
			return s.Open("tasks/a/spec", broken)
		},
		"a short one": func() ([]byte, error) { return s.Open("tasks/a/spec", sealed[:5]) },
		"nothing":     func() ([]byte, error) { return s.Open("tasks/a/spec", nil) },
	} {
		if got, err := open(); err == nil {
			t.Errorf("%s opens it: %s", what, got)
		}
	}
}

func TestLoadWantsAWholeKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "seal.key")
	if _, err := seal.Load(path); err == nil {
		t.Error("a file that is not there was read")
	}
	for text, ok := range map[string]bool{seal.NewKey(): true, "": false, "c2hvcnQ": false, "no base64!": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.Load(path); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	s, err := seal.New(seal.NewKey())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := s.Open("a", b); err == nil {
			t.Error("noise opens")
		}
	})
}
