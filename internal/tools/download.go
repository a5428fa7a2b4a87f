package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"holdfast/messages"
)

// downloadTools get at what pages download.
var downloadTools = []Tool{
	define[downloadsInput, downloadsOutput](Tool{
		Name: "browser_downloads", Title: "Downloads", Group: "reports",
		Description: "The files that the task's pages have downloaded, as artifacts. Waits for those that are under way.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runDownloads),
	define[pdfInput, pdfOutput](Tool{
		Name: "browser_pdf_save", Title: "Save as PDF", Group: "reports",
		Description: "Print the page to a PDF, which is kept as an artifact. Needs a headless browser.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runPDF),
}

type downloadsInput struct {
	on
	WaitS float64 `json:"wait_s,omitempty" min:"0" max:"300" jsonschema:"for those under way; default 5"`
}

type downloadsOutput struct {
	Downloads []messages.Artifact `json:"downloads"`
	// Pending counts the downloads that are under way.
	Pending int `json:"pending"`
}

// Downloads says where the browser of a task leaves what its pages download; "" where that is on
// another machine, or not known. A [Node] may have it.
type Downloads interface {
	DownloadDir(id messages.TaskID) string
}

const (
	downloadWait = 5 * time.Second
	downloadPoll = 50 * time.Millisecond
	// maxCollected bounds the downloads of a task that are known to be kept.
	maxCollected = 1000
)

func runDownloads(ctx context.Context, c *call, in downloadsInput) (outcome, error) {
	if c.artifacts == nil {
		return outcome{}, messages.Errorf(messages.CodeForbidden, "this node keeps no artifacts")
	}
	if c.downloadDir() == "" {
		return outcome{}, messages.Errorf(messages.CodeForbidden, "the browser keeps its downloads on its own machine: the node has not launched it")
	}
	within := downloadWait
	if in.WaitS != 0 {
		within = time.Duration(in.WaitS * float64(time.Second))
	}
	_, pending, err := c.awaitDownloads(ctx, within, false)
	if err != nil {
		return outcome{}, err
	}
	out := downloadsOutput{Downloads: []messages.Artifact{}, Pending: pending}
	for _, a := range c.artifacts.List(c.task) {
		if a.Kind == messages.ArtifactDownload {
			out.Downloads = append(out.Downloads, a)
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %d under way", plural(len(out.Downloads), "download"), pending)
	for _, a := range out.Downloads {
		fmt.Fprintf(&text, "\n- %s %q %s %d bytes %s", a.ArtifactID, a.Name, a.State, a.Size, a.MIMEType)
	}
	return outcome{text: cutMarked(text.String(), maxText), data: out, isOfPage: true, files: out.Downloads}, nil
}

func (c *call) downloadDir() string {
	if n, ok := c.node.(Downloads); ok {
		return n.DownloadDir(c.task)
	}
	return ""
}

// awaitDownloads keeps what has been downloaded, and waits until nothing is under way. With
// isExpected it waits for a first one too. What is not there in time is no error.
func (c *call) awaitDownloads(ctx context.Context, within time.Duration, isExpected bool) (kept []messages.Artifact, pending int, err error) {
	if c.artifacts == nil || c.downloadDir() == "" {
		return nil, 0, nil
	}
	for began := time.Now(); ; {
		fresh, underWay, err := c.collect(ctx)
		kept = append(kept, fresh...)
		if err != nil || underWay == 0 && (len(kept) > 0 || !isExpected) || time.Since(began) > within {
			return kept, underWay, err
		}
		if err := pause(ctx, downloadPoll); err != nil {
			return kept, underWay, err
		}
	}
}

// collect keeps each file that was downloaded and is not kept yet. The directory is in the
// browser's hands, so nothing in it leads out of the profile: no link is followed beyond it.
func (c *call) collect(ctx context.Context) (kept []messages.Artifact, pending int, err error) {
	dir := c.downloadDir()
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, 0, fmt.Errorf("open the profile: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), filepath.Base(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the downloads: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
			continue
		case strings.HasSuffix(e.Name(), ".crdownload") || strings.HasPrefix(e.Name(), "."):
			pending++
			continue
		}
		file := fmt.Sprint(e.Name(), "/", info.Size(), "/", info.ModTime().UnixNano())
		if !c.memory.isFresh(file) {
			continue
		}
		a, err := c.keepDownload(root, filepath.Join(filepath.Base(dir), e.Name()))
		switch {
		case err == nil:
			kept = append(kept, a)
		case messages.CodeOf(err) == messages.CodeMessageTooLarge:
			return kept, pending, messages.Errorf(messages.CodeMessageTooLarge, "the download %q is too large to be kept", cut(e.Name(), maxFileName))
		default:
			c.memory.forgetFile(file) // the next call tries again
			if !errors.Is(err, fs.ErrNotExist) {
				return kept, pending, err
			}
		}
		if err := ctx.Err(); err != nil {
			return kept, pending, err
		}
	}
	return kept, pending, nil
}

// keepDownload copies one file into the store.
func (c *call) keepDownload(root *os.Root, path string) (messages.Artifact, error) {
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe in its place must not block
	if err != nil {
		return messages.Artifact{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return messages.Artifact{}, err
	}
	if !info.Mode().IsRegular() {
		return messages.Artifact{}, fs.ErrNotExist
	}
	name := filepath.Base(path)
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return messages.Artifact{}, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return messages.Artifact{}, err
	}
	kind := cmp.Or(mime.TypeByExtension(filepath.Ext(name)), http.DetectContentType(head[:n]))
	return c.artifacts.Put(c.task, messages.Artifact{Kind: messages.ArtifactDownload, Name: name, MIMEType: kind}, f)
}

// isFresh says whether a download is new, and notes it.
func (m *memory) isFresh(file string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.collected[file] {
		return false
	}
	for other := range m.collected {
		if len(m.collected) < maxCollected {
			break
		}
		delete(m.collected, other)
	}
	m.collected[file] = true
	return true
}

// forgetFile has a download be new again.
func (m *memory) forgetFile(file string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.collected, file)
}

// downloaded adds to an outcome what a page has just downloaded.
func (c *call) downloaded(ctx context.Context, out *outcome) {
	files, pending, err := c.awaitDownloads(ctx, downloadWait, len(c.got) == 0)
	files = append(c.got, files...)
	out.files = append(out.files, files...)
	for _, a := range files {
		out.text += fmt.Sprintf("\nDownloaded %q, %d bytes: artifact %s.", a.Name, a.Size, a.ArtifactID)
	}
	switch {
	case err != nil:
		out.text += "\n" + c.failure(ctx, err).Message
	case pending > 0 || len(files) == 0 && c.artifacts != nil && c.downloadDir() != "":
		out.category = "artifact-pending"
		out.next = append(out.next, c.action("browser_downloads", "wait for the download", nil))
	case len(files) == 0:
		out.text += "\nThe file is where the browser keeps its downloads; this node cannot read it."
		out.category = "artifact-missing"
	default:
		out.category = "artifact-saved"
	}
}

type pdfInput struct {
	on
	Landscape  bool `json:"landscape,omitempty"`
	Background bool `json:"background,omitempty" jsonschema:"print background colours and pictures"`
}

type pdfOutput struct {
	ArtifactID messages.ArtifactID `json:"artifact_id"`
	Size       int64               `json:"size"`
}

func runPDF(ctx context.Context, c *call, in pdfInput) (outcome, error) {
	if c.artifacts == nil {
		return outcome{}, messages.Errorf(messages.CodeForbidden, "this node keeps no artifacts")
	}
	var got struct {
		Data []byte `json:"data"`
	}
	params := map[string]any{"landscape": in.Landscape, "printBackground": in.Background}
	if err := c.cdp(ctx, "", "Page.printToPDF", params, &got, pdfBudget); err != nil {
		return outcome{}, err
	}
	kept := c.keep(ctx, messages.Artifact{Kind: messages.ArtifactPDF, Name: "page.pdf", MIMEType: "application/pdf"}, got.Data)
	if kept.State != messages.ArtifactLive {
		return outcome{}, messages.Errorf(messages.CodeLimitReached, "the PDF could not be kept")
	}
	return outcome{
		text: fmt.Sprintf("Saved the page as artifact %s, a PDF of %d bytes.", kept.ArtifactID, kept.Size),
		data: pdfOutput{kept.ArtifactID, kept.Size}, files: []messages.Artifact{kept}, category: "artifact-saved",
	}, nil
}

// pdfBudget is how long a page may take to be printed.
const pdfBudget = 60 * time.Second
