package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"holdfast/messages"
)

// FuzzOwnID: whatever a client calls itself, its own task has a good id.
func FuzzOwnID(f *testing.F) {
	for _, name := range []string{"", "Claude Code", "ünïcode", "../../x", strings.Repeat("-", 200), "a\x00b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		id := ownID(name, "abcdefgh")
		if _, err := messages.ParseTaskID(string(id)); err != nil || len(id) > 64 || strings.Contains(string(id), "--abcdefgh") {
			t.Errorf("%q: %q %v", name, id, err)
		}
	})
}

// FuzzDialogsURI: a resource names a good task, or none.
func FuzzDialogsURI(f *testing.F) {
	for _, uri := range []string{"browser://tasks/one/dialogs", "browser://tasks//dialogs", "browser://tasks/a/b/dialogs", "browser://tasks/dialogs", "file:///etc/passwd"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		id, ok := taskOf(uri)
		if _, err := messages.ParseTaskID(string(id)); ok && (err != nil || uri != "browser://tasks/"+string(id)+"/dialogs") {
			t.Errorf("%q: %q %v", uri, id, err)
		}
	})
}

// FuzzArtifactURI: a resource names a good task and at most one file, or none.
func FuzzArtifactURI(f *testing.F) {
	for _, uri := range []string{
		"browser://tasks/one/artifacts", "browser://tasks/one/artifacts/a-1", "one/artifacts", "browser://tasks/one/artifacts/", "browser://tasks/one/artifacts/a/b",
		"browser://tasks//artifacts", "browser://tasks/one/dialogs",
	} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		id, file, ok := artifactOf(uri)
		if !ok {
			return
		}
		want := "browser://tasks/" + string(id) + "/artifacts"
		if file != "" {
			want += "/" + string(file)
		}
		if _, err := messages.ParseTaskID(string(id)); err != nil || uri != want || strings.Contains(string(file), "/") {
			t.Errorf("%q: %q %q %v", uri, id, file, err)
		}
	})
}

// FuzzAim: a call is for a good task, or refused.
func FuzzAim(f *testing.F) {
	for _, input := range []string{``, `{}`, `[]`, `null`, `{"task":"one"}`, `{"task":""}`, `{"task":7}`, `{"task":"a/b"}`, `{"task":"own"}`} {
		f.Add([]byte(input))
	}
	p := &peer{own: newOwnTask("own", messages.TaskSpec{})}
	f.Fuzz(func(t *testing.T, input []byte) {
		id, isOwn, err := p.aim(json.RawMessage(input))
		if err != nil {
			if messages.CodeOf(err) != messages.CodeInvalidArgument {
				t.Errorf("%q: %v", input, err)
			}
			return
		}
		if _, err := messages.ParseTaskID(string(id)); err != nil || isOwn != (id == "own") {
			t.Errorf("%q: %q, own %t, %v", input, id, isOwn, err)
		}
	})
}
