package acceptance_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/artifact"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// shelves gives the hands a store.
func (h *hands) shelves() *artifact.Store {
	h.Helper()
	s, err := artifact.New(h.TempDir(), artifact.DefaultBounds())
	if err != nil {
		h.Fatal(err)
	}
	h.table = tools.New(h.node, nil).WithArtifacts(s)
	return s
}

func (h *hands) bytesOf(s *artifact.Store, a messages.Artifact) []byte {
	h.Helper()
	f, _, err := s.Open(h.id, a.ArtifactID)
	if err != nil {
		h.Fatal(err)
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		h.Fatal(err)
	}
	return raw
}

// onLocalhost is a site's name, in place of which a browser of the node's own reaches localhost.
var onLocalhost = regexp.MustCompile(`[a-z0-9-]+\.test:`)

// TestX26_FilesGoInAndOutByHandle: a click downloads a file, which becomes an artifact; the
// artifact is given to a page; pictures and PDFs are artifacts too (W21).
func TestX26_FilesGoInAndOutByHandle(t *testing.T) {
	t.Parallel()
	r := setupOn(t, nil)
	if _, _, err := r.node.GetOrStart(r.ctx, "x26", messages.TaskSpec{Launch: &messages.LaunchSpec{}}); err != nil {
		t.Fatal(err)
	}
	h := (&task{r, "x26"}).hands()
	store := h.shelves()
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB, more than one part
	h.site.Handle("/file", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", `attachment; filename="report.zip"`)
		_, _ = w.Write(large)
	}))
	h.site.Set("/files", `<title>files</title><a href="/file">Get</a><input type=file id=in multiple aria-label="Put"><script>
		document.getElementById('in').onchange = async e => {
			const f = e.target.files[0], sum = await crypto.subtle?.digest('SHA-256', await f.arrayBuffer());
			document.body.dataset.got = f.name + ' ' + f.size + ' ' + (sum ? [...new Uint8Array(sum)].map(b => b.toString(16).padStart(2, '0')).join('') : '');
			document.body.append('taken');
		}</script>`)
	h.use("browser_navigate", `{"url":"`+onLocalhost.ReplaceAllString(h.site.URL("http://a.test/files"), "localhost:")+`"}`)
	got := h.use("browser_click", `{"selector":"a"}`)
	if got.Category != "artifact-saved" || len(got.Artifacts) != 1 {
		t.Fatalf("%s %s %+v", got.Category, got.Text, got.Artifacts)
	}
	a := got.Artifacts[0]
	sum := sha256.Sum256(large)
	if a.Kind != messages.ArtifactDownload || a.Name != "report.zip" || a.Size != int64(len(large)) || a.SHA256 != hex.EncodeToString(sum[:]) || !bytes.Equal(h.bytesOf(store, a), large) {
		t.Errorf("%+v", a)
	}
	h.use("browser_file_upload", `{"selector":"#in","files":[{"artifact_id":"`+string(a.ArtifactID)+`"},{"name":"b.txt","content":"aGk="}]}`)
	h.use("browser_wait_for", `{"text":"taken"}`)
	if said := h.eval("", "document.body.dataset.got"); !strings.Contains(said, "report.zip 4194304 "+a.SHA256) {
		t.Error(said)
	}
	h.use("browser_navigate", `{"url":"data:text/html,<a download=hi.txt href='data:text/plain,hello'>get</a>"}`)
	if r := h.use("browser_click", `{"selector":"a"}`); r.Category != "artifact-saved" || len(r.Artifacts) != 1 || r.Artifacts[0].Name != "hi.txt" || r.Artifacts[0].Size != 5 {
		t.Errorf("a link of a document that tells of no navigation: %s %s", r.Category, r.Text)
	}
	pdf := h.use("browser_pdf_save", `{}`)
	if len(pdf.Artifacts) != 1 || !bytes.HasPrefix(h.bytesOf(store, pdf.Artifacts[0]), []byte("%PDF-")) {
		t.Errorf("%+v", pdf)
	}
	if shot := h.use("browser_take_screenshot", `{}`).Artifacts[0]; shot.State != messages.ArtifactLive || int(shot.Size) != len(h.bytesOf(store, shot)) || shot.Base64 == "" {
		t.Errorf("%+v", shot)
	}
	if list := h.use("browser_artifacts", `{"action":"list"}`); !strings.Contains(list.Text, "4 artifacts: 4 live") {
		t.Error(list.Text)
	}
}
