package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/artifact"
	"holdfast/messages"
)

func withArtifacts(t *testing.T) (*artifact.Store, func(*api.Config)) {
	t.Helper()
	s, err := artifact.New(t.TempDir(), artifact.DefaultBounds())
	if err != nil {
		t.Fatal(err)
	}
	return s, func(c *api.Config) { c.Artifacts = s }
}

// runs is a node on which the tasks named run.
func runs(ids ...messages.TaskID) *apitest.Node {
	return &apitest.Node{SnapshotFunc: func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
		for _, one := range ids {
			if one == id {
				return apitest.Active(id), nil
			}
		}
		return nil, messages.Errorf(messages.CodeTaskNotFound, "no such task")
	}}
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	store, config := withArtifacts(t)
	b := setup(t, runs("one", "two"), config)
	if w := b.call("GET", "/v1/tasks/one/artifacts", ""); w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != `{"artifacts":[],"live":0,"evicted":0,"missing":0}` {
		t.Fatal(w.Code, w.Body)
	}
	if w := b.call("GET", "/v1/tasks/none/artifacts", ""); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "task_not_found") {
		t.Error(w.Code, w.Body)
	}
	send := b.request("POST", "/v1/tasks/one/artifacts?name=..%2Freport%0d.html", "<script>alert(1)</script>")
	send.Header.Set("Content-Type", "text/html")
	w := b.do(send)
	var made messages.ArtifactReply
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusCreated {
		t.Fatal(w.Code, w.Body)
	}
	a := made.Artifact
	path := "/v1/tasks/one/artifacts/" + string(a.ArtifactID)
	if a.Kind != messages.ArtifactUpload || a.Name != "report.html" || a.Size != 25 || a.State != messages.ArtifactLive || w.Header().Get("Location") != path {
		t.Errorf("%+v %v", a, w.Header())
	}
	w = b.call("GET", path, "")
	head := w.Header()
	if w.Code != http.StatusOK || w.Body.String() != "<script>alert(1)</script>" || head.Get("ETag") != `"`+a.SHA256+`"` || head.Get("Content-Type") != "text/html" ||
		head.Get("Content-Disposition") != `attachment; filename=report.html` || !strings.Contains(head.Get("Content-Security-Policy"), "sandbox") || head.Get("X-Content-Type-Options") != "nosniff" {
		t.Error(w.Code, w.Body, head)
	}
	part := b.request("GET", path, "")
	part.Header.Set("Range", "bytes=1-6")
	if w := b.do(part); w.Code != http.StatusPartialContent || w.Body.String() != "script" {
		t.Error(w.Code, w.Body)
	}
	for name, of := range map[string]string{"another task's": "/v1/tasks/two/artifacts/" + string(a.ArtifactID), "no id": "/v1/tasks/one/artifacts/..%2Fmanifest.json"} {
		if w := b.call("GET", of, ""); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "artifact_not_found") {
			t.Error(name, w.Code, w.Body)
		}
	}
	form := b.request("POST", "/v1/tasks/one/artifacts?name=a.pdf", "x")
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if w := b.do(form); !strings.Contains(w.Body.String(), `"mime_type":"application/pdf"`) {
		t.Errorf("what curl calls every body: %s", w.Body)
	}
	if w := b.call("POST", "/v1/tasks/none/artifacts", "x"); w.Code != http.StatusNotFound {
		t.Error(w.Code, w.Body)
	}
	if list := store.List("none"); list != nil {
		t.Errorf("%+v", list)
	}
	if w := b.call("GET", "/v1/tasks/one/artifacts", ""); !strings.Contains(w.Body.String(), `"live":2`) || !strings.Contains(w.Body.String(), a.SHA256) {
		t.Error(w.Body)
	}
}

// TestArtifactsAreOfTheirTask: a token of one task reaches no file of another.
func TestArtifactsAreOfTheirTask(t *testing.T) {
	t.Parallel()
	store, config := withArtifacts(t)
	b := setup(t, runs("one", "two"), config)
	a, err := store.Put("one", messages.Artifact{Kind: messages.ArtifactOutput, MIMEType: "text/plain"}, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/tasks/one/artifacts", "/v1/tasks/one/artifacts/" + string(a.ArtifactID)} {
		r := b.request("GET", path, "")
		r.Header.Set("Authorization", "Bearer "+b.admin.ForTask("two"))
		if w := b.do(r); w.Code != http.StatusForbidden {
			t.Error(w.Code, w.Body)
		}
	}
}

func TestAnArtifactHasABound(t *testing.T) {
	t.Parallel()
	store, err := artifact.New(t.TempDir(), artifact.Bounds{Entries: 1, Tasks: 1, File: 4, TaskBytes: 4, Bytes: 4})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, runs("one"), func(c *api.Config) { c.Artifacts = store })
	if w := b.call("POST", "/v1/tasks/one/artifacts", "12345"); w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "message_too_large") {
		t.Error(w.Code, w.Body)
	}
	none := setup(t, runs("one"))
	for _, c := range [][2]string{{"GET", ""}, {"GET", "/a-0123456789abcdef"}, {"POST", ""}} {
		if w := none.call(c[0], "/v1/tasks/one/artifacts"+c[1], ""); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "keeps no") {
			t.Error(c, w.Code, w.Body)
		}
	}
}
