package client_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/client"
	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/artifact"
	"holdfast/internal/gate"
	"holdfast/internal/token"
	"holdfast/messages"
)

func TestFilesGoThereAndBack(t *testing.T) {
	t.Parallel()
	files, err := artifact.New(t.TempDir(), artifact.DefaultBounds())
	if err != nil {
		t.Fatal(err)
	}
	admin := token.Generate()
	entrance, err := gate.New(gate.Config{Token: admin})
	if err != nil {
		t.Fatal(err)
	}
	node := &apitest.Node{SnapshotFunc: func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
		if id != "one" {
			return nil, messages.Errorf(messages.CodeTaskNotFound, "there is no task %s", id)
		}
		return apitest.Active(id), nil
	}}
	h, err := api.New(api.Config{Node: node, Gate: entrance, Artifacts: files})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { h.CloseStreams(); s.Close() })
	c := to(t, s.URL, client.Options{Token: admin.Reveal()})
	ctx, large := t.Context(), strings.Repeat("0123456789abcdef", 1<<16)

	sent, err := c.SendArtifact(ctx, "one", "a b?.txt", strings.NewReader(large))
	if err != nil || sent.Name != "a b?.txt" || sent.Size != int64(len(large)) || sent.Kind != messages.ArtifactUpload {
		t.Fatalf("%+v %v", sent, err)
	}
	list, err := c.Artifacts(ctx, "one")
	if err != nil || list.Live != 1 || list.Artifacts[0].ArtifactID != sent.ArtifactID {
		t.Errorf("%+v %v", list, err)
	}
	var got bytes.Buffer
	if n, err := c.ReadArtifact(ctx, "one", sent.ArtifactID, &got); err != nil || n != sent.Size || got.String() != large {
		t.Errorf("%d bytes of %d, %v", n, sent.Size, err)
	}
	for name, err := range map[string]error{
		"task_not_found":     second(c.SendArtifact(ctx, "two", "", strings.NewReader("x"))),
		"artifact_not_found": second(c.ReadArtifact(ctx, "one", "a-0123456789abcdef", &got)),
	} {
		if string(messages.CodeOf(err)) != name {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestAFileIsHeldToItsHash: bytes that are lost on the way, with what is in between, are an error.
func TestAFileIsHeldToItsHash(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`)
		_, _ = w.Write([]byte("not empty"))
	}))
	t.Cleanup(s.Close)
	_, err := to(t, s.URL, client.Options{}).ReadArtifact(t.Context(), "one", "a-1", &bytes.Buffer{})
	if _, ok := errors.AsType[*client.Unreachable](err); !ok || !strings.Contains(err.Error(), "hash") {
		t.Errorf("%v", err)
	}
}
