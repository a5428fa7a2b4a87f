package artifact_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"holdfast/internal/artifact"
	"holdfast/messages"
)

func TestWhatIsSealedIsReadWithItsKeyAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func(key string) *artifact.Store {
		s, err := artifact.New(filepath.Join(dir, "artifacts"), artifact.DefaultBounds())
		if err != nil {
			t.Fatal(err)
		}
		if key != "" {
			if err := s.UseKey(filepath.Join(dir, key)); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	s, secret := open("key"), []byte("a cookie that opens the shop")
	a, err := s.PutSealed("one", messages.Artifact{Kind: messages.ArtifactSavedState}, secret)
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := s.Open("one", a.ArtifactID)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(f)
	_ = f.Close()
	if err != nil || bytes.Contains(raw, []byte("cookie")) {
		t.Errorf("on disk: %q %v", raw, err)
	}
	// A node that starts anew has the same key.
	if got, err := open("key").OpenSealed("one", a.ArtifactID); err != nil || !bytes.Equal(got, secret) {
		t.Errorf("%q %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "key")); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
		t.Errorf("the key's file: %v %v", info, err)
	}
	if _, err := open("another").OpenSealed("one", a.ArtifactID); messages.CodeOf(err) != messages.CodeInvalidArgument {
		t.Errorf("with another key: %v", err)
	}
	plain, err := s.Put("one", messages.Artifact{}, bytes.NewReader(secret))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenSealed("one", plain.ArtifactID); messages.CodeOf(err) != messages.CodeInvalidArgument {
		t.Errorf("what is not sealed: %v", err)
	}
	if _, err := s.Put("two", messages.Artifact{}, bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenSealed("two", s.List("two")[0].ArtifactID); messages.CodeOf(err) != messages.CodeInvalidArgument {
		t.Errorf("another task's: %v", err)
	}
	if _, err := open("").PutSealed("one", messages.Artifact{}, secret); messages.CodeOf(err) != messages.CodeForbidden {
		t.Errorf("without a key: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "short"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.UseKey(filepath.Join(dir, "short")); err == nil {
		t.Error("a short key is taken")
	}
}
