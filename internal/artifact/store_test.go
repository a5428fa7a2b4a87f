package artifact_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"holdfast/internal/artifact"
	"holdfast/messages"
)

func open(t *testing.T, dir string, b artifact.Bounds) *artifact.Store {
	t.Helper()
	s, err := artifact.New(dir, b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *artifact.Store, task messages.TaskID, text string) messages.Artifact {
	t.Helper()
	a, err := s.Put(task, messages.Artifact{Kind: messages.ArtifactOutput, Name: "x.txt", MIMEType: "text/plain"}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func content(t *testing.T, s *artifact.Store, task messages.TaskID, id messages.ArtifactID) string {
	t.Helper()
	f, _, err := s.Open(task, id)
	if err != nil {
		return string(messages.CodeOf(err)) + " " + fmt.Sprint(err.(*messages.Error).Details["state"])
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func states(list []messages.Artifact) (out string) {
	for _, a := range list {
		out += string(a.State)[:1]
	}
	return out
}

func TestAnArtifactSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := put(t, open(t, dir, artifact.DefaultBounds()), "one", "hello")
	if a.Size != 5 || a.SHA256 != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" || a.State != messages.ArtifactLive || a.CreatedAt == 0 {
		t.Errorf("%+v", a)
	}
	again := open(t, dir, artifact.DefaultBounds())
	if list := again.List("one"); len(list) != 1 || list[0] != a {
		t.Errorf("%+v", list)
	}
	if got := content(t, again, "one", a.ArtifactID); got != "hello" {
		t.Error(got)
	}
	if list := again.List("two"); list != nil {
		t.Errorf("of another task: %+v", list)
	}
	if got := content(t, again, "two", a.ArtifactID); !strings.HasPrefix(got, "artifact_not_found") {
		t.Error(got)
	}
}

// TestAFileIsVerified is W21: a file that is gone, or has changed, is not handed out.
func TestAFileIsVerified(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"deleted": os.Remove,
		"longer":  func(path string) error { return os.WriteFile(path, []byte("hello, and more"), 0o600) },
		"changed": func(path string) error { return os.WriteFile(path, []byte("HELLO"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir, artifact.DefaultBounds())
			a := put(t, s, "one", "hello")
			paths, err := filepath.Glob(filepath.Join(dir, "*", string(a.ArtifactID)))
			if err != nil || len(paths) != 1 {
				t.Fatal(paths, err)
			}
			if err := spoil(paths[0]); err != nil {
				t.Fatal(err)
			}
			if got := content(t, s, "one", a.ArtifactID); got != "artifact_not_found missing" {
				t.Error(got)
			}
			if got := states(s.List("one")); got != "m" {
				t.Error(got)
			}
		})
	}
}

func TestTheOldestGoesFirst(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), artifact.Bounds{Entries: 4, Tasks: 2, File: 10, TaskBytes: 20, Bytes: 30})
	var made []messages.Artifact
	for range 6 {
		made = append(made, put(t, s, "one", "0123456789"))
	}
	if list := s.List("one"); states(list) != "eell" || list[0].ArtifactID != made[2].ArtifactID {
		t.Errorf("four entries, two of them within the task's bytes: %s", states(list))
	}
	if got := content(t, s, "one", made[2].ArtifactID); got != "artifact_not_found evicted" {
		t.Error(got)
	}
	put(t, s, "two", "0123456789")
	put(t, s, "two", "0123456789")
	if got := states(s.List("one")) + " " + states(s.List("two")); got != "eeel ll" {
		t.Errorf("the node's bytes: %s", got)
	}
	put(t, s, "three", "x")
	if s.List("one") != nil || s.List("two") == nil || s.List("three") == nil {
		t.Error("the task whose last artifact is the oldest is forgotten")
	}
	if _, err := s.Put("three", messages.Artifact{}, bytes.NewReader(make([]byte, 11))); messages.CodeOf(err) != messages.CodeMessageTooLarge {
		t.Error(err)
	}
	if got := states(s.List("three")); got != "l" {
		t.Errorf("a file that is too long leaves nothing: %s", got)
	}
}

func TestAManifestThatIsNotOursIsNotFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := put(t, open(t, dir, artifact.DefaultBounds()), "one", "hello")
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range []string{
		"", "{", strings.Replace(string(text), string(a.ArtifactID), "../../token", 1), strings.Replace(string(text), `"one"`, `"two"`, 1),
		strings.Replace(string(text), `"one"`, `"a/b"`, 1), strings.Replace(string(text), `"size":5`, `"size":-5`, 1),
	} {
		if err := os.WriteFile(paths[0], []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir, artifact.DefaultBounds())
		if s.List("one") != nil || s.List("two") != nil {
			t.Errorf("%q was taken", broken)
		}
	}
}

func TestNamesAreThoseOfFiles(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), artifact.DefaultBounds())
	for given, want := range map[string]string{
		"a.txt": "a.txt", "../../etc/passwd": "passwd", `C:\x\y.doc`: "y.doc", "..": "", "a\r\nb\x00.txt": "ab.txt", "\xff": "", strings.Repeat("ä", 300): strings.Repeat("ä", 100),
	} {
		a, err := s.Put("one", messages.Artifact{Name: given}, strings.NewReader(""))
		if err != nil || a.Name != want {
			t.Errorf("%q is %q: %v", given, a.Name, err)
		}
	}
}

func TestManyCallersShareAStore(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), artifact.Bounds{Entries: 3, Tasks: 2, File: 10, TaskBytes: 20, Bytes: 25})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			task := messages.TaskID(fmt.Sprint("t", i%2))
			for range 5 {
				a, err := s.Put(task, messages.Artifact{}, strings.NewReader("0123456789"))
				if err != nil {
					t.Error(err)
					return
				}
				if f, _, err := s.Open(task, a.ArtifactID); err == nil {
					_ = f.Close()
				} else if messages.CodeOf(err) != messages.CodeArtifactNotFound {
					t.Error(err)
				}
				s.List(task)
			}
		})
	}
	all.Wait()
	if n := len(s.List("t0")); n != 3 {
		t.Errorf("%d entries", n)
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("a-0123456789abcdef")
	f.Add("../x")
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := artifact.ParseID(s); err == nil && (string(id) != s || strings.ContainsAny(s, `/\.`) || len(s) != 18) {
			t.Errorf("%q", s)
		}
	})
}
