package tools_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/api/apitest"
	"holdfast/internal/artifact"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// shelf is a table with a store.
type shelf struct {
	*testing.T
	*tools.Table
	store *artifact.Store
	dir   string // of the store
}

func shelve(t *testing.T, n tools.Node) shelf {
	t.Helper()
	dir := t.TempDir()
	s, err := artifact.New(dir, artifact.DefaultBounds())
	if err != nil {
		t.Fatal(err)
	}
	return shelf{t, tools.New(n, nil).WithArtifacts(s), s, dir}
}

func (s shelf) use(name, input string) *messages.ToolResult {
	s.Helper()
	return s.Call(s.Context(), tools.Caller{}, "one", name, json.RawMessage(input))
}

// says is a node whose pages evaluate to a value.
func says(value string) *apitest.Node {
	n := node()
	n.CDPFunc = func(messages.CDPRequest) (messages.CDPResult, error) {
		raw, err := json.Marshal(map[string]any{"result": map[string]any{"type": "string", "value": value}})
		return messages.CDPResult{Result: raw}, err
	}
	return n
}

// TestW24_WhatIsTooLongBecomesAnArtifact, which is read in parts, with no character torn.
func TestW24_WhatIsTooLongBecomesAnArtifact(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("äöü€", 5000)
	s := shelve(t, says(long))
	r := s.use("browser_evaluate", `{"expression":"x"}`)
	if !r.OK || len(r.Artifacts) != 1 || r.Artifacts[0].Kind != messages.ArtifactOutput || !strings.Contains(r.Text, string(r.Artifacts[0].ArtifactID)) || len(r.Text) > 16_000 {
		t.Fatalf("%+v", r.Artifacts)
	}
	var all string
	for offset := int64(0); ; {
		input, err := json.Marshal(map[string]any{"action": "read", "artifact_id": r.Artifacts[0].ArtifactID, "offset": offset, "max_chars": 10_000})
		if err != nil {
			t.Fatal(err)
		}
		part := s.use("browser_artifacts", string(input))
		if !part.OK {
			t.Fatal(part.Text)
		}
		var data struct {
			Content    string `json:"content"`
			NextOffset int64  `json:"next_offset"`
		}
		raw, err := json.Marshal(part.Data)
		if err != nil || json.Unmarshal(raw, &data) != nil {
			t.Fatal(err)
		}
		all += data.Content
		if offset = data.NextOffset; offset == 0 {
			break
		}
	}
	if all != `"`+long+`"` {
		t.Errorf("%d bytes of %d", len(all), len(long)+2)
	}
	if r := shelve(t, says("short")).use("browser_evaluate", `{"expression":"x"}`); len(r.Artifacts) != 0 {
		t.Errorf("%+v", r.Artifacts)
	}
	if r := s.use("browser_artifacts", `{"action":"list"}`); !strings.Contains(r.Text, "1 artifact: 1 live") {
		t.Error(r.Text)
	}
	if r := s.use("browser_artifacts", `{"action":"read","artifact_id":"../x"}`); r.Code != messages.CodeArtifactNotFound {
		t.Errorf("%+v", r)
	}
}

// saver is a node whose browser has a directory for downloads.
type saver struct {
	*apitest.Node
	dir string
}

func (s saver) DownloadDir(messages.TaskID) string { return s.dir }

// TestX26_DownloadsAreKeptOnce: each file once, none that is not whole, and none that a link
// leads to outside of the profile.
func TestX26_DownloadsAreKeptOnce(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "profile", "downloads")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(top, "token"): "secret", filepath.Join(dir, "a.csv"): "1,2", filepath.Join(dir, "b.pdf.crdownload"): "half",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "token"), filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	s := shelve(t, saver{node(), dir})
	// A store that fails loses no download.
	if err := os.Remove(s.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := s.use("browser_downloads", `{"wait_s":0.1}`); r.OK {
		t.Errorf("%+v", r)
	}
	if err := os.Remove(s.dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := s.use("browser_downloads", `{"wait_s":0.1}`)
		if !r.OK || len(r.Artifacts) != 1 || r.Artifacts[0].Name != "a.csv" || !strings.Contains(r.Text, "1 download, 1 under way") {
			t.Fatalf("%+v", r)
		}
	}
	f, a, err := s.store.Open("one", s.store.List("one")[0].ArtifactID)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "1,2" || !strings.HasPrefix(a.MIMEType, "text/") {
		t.Errorf("%q %+v %v", text, a, err)
	}
	// A directory that the browser has put in its place leads nowhere else.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(top, dir); err != nil {
		t.Fatal(err)
	}
	if r := s.use("browser_downloads", `{}`); r.OK {
		t.Errorf("%+v", r)
	}
	if n := len(s.store.List("one")); n != 1 {
		t.Errorf("%d artifacts", n)
	}
	if r := shelve(t, node()).use("browser_downloads", `{}`); r.Code != messages.CodeForbidden {
		t.Errorf("%+v", r)
	}
}
