package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path/filepath"

	"holdfast/messages"
)

// files are those that a client's tools may read: what is below a directory; "" is none.
type files string

// The bounds of files that one call reads. They become the input of a tool, in base64: that takes
// 4 MiB of JSON, and a script 1 MiB.
const (
	maxPaths    = 20
	maxUploaded = 2900 << 10 // bytes, of all
	maxDropped  = 700 << 10
)

// file is one file that was read.
type file struct {
	Name    string `json:"name"`
	Type    string `json:"mime_type,omitempty"`
	Content string `json:"content"` // base64
}

// read reads the files that a call names, of so many bytes together.
func (f files) read(paths []any, most int64) (out []file, err error) {
	if len(paths) > maxPaths {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "paths: at most %d", maxPaths)
	}
	if f == "" {
		return nil, messages.Errorf(messages.CodeForbidden, "paths: no file can be read over HTTP, since they are on another machine; `holdfast mcp` reads those below the directory it was started in")
	}
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, messages.Errorf(messages.CodeForbidden, "paths: the directory of holdfast mcp cannot be read")
	}
	defer root.Close()
	left := most
	for _, p := range paths {
		name, _ := p.(string)
		raw, err := f.one(root, name, left)
		if err != nil {
			return nil, err
		}
		if int64(len(raw)) > left {
			return nil, messages.Errorf(messages.CodeMessageTooLarge, "paths: the files are larger than %d bytes together", most)
		}
		left -= int64(len(raw))
		out = append(out, file{filepath.Base(name), mime.TypeByExtension(filepath.Ext(name)), base64.StdEncoding.EncodeToString(raw)})
	}
	return out, nil
}

// one reads one file, or the begin of one that is too large. A link that leads out of the directory
// leads nowhere.
func (f files) one(root *os.Root, path string, most int64) ([]byte, error) {
	within := path
	if filepath.IsAbs(path) {
		within, _ = filepath.Rel(string(f), path)
	}
	if !filepath.IsLocal(within) {
		return nil, messages.Errorf(messages.CodeForbidden, "paths: %q is not below the directory that holdfast mcp was started in", path)
	}
	about, err := root.Stat(within)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, messages.Errorf(messages.CodeInvalidArgument, "paths: there is no file %q", path)
	case err == nil && !about.Mode().IsRegular():
		return nil, messages.Errorf(messages.CodeInvalidArgument, "paths: %q is no file", path)
	}
	raw, err := beginOf(root, within, most)
	if err != nil {
		return nil, messages.Errorf(messages.CodeForbidden, "paths: %q cannot be read", path)
	}
	return raw, nil
}

// beginOf is a file's begin, a byte longer than most where there is more.
func beginOf(root *os.Root, name string, most int64) ([]byte, error) {
	opened, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return io.ReadAll(io.LimitReader(opened, most+1))
}

// uploaded answers Playwright's browser_file_upload: the open file chooser gets its files.
func uploaded(_ context.Context, d desk, in map[string]any) (*messages.ToolResult, error) {
	r, err := d.must("browser_tabs", map[string]any{"action": "list"})
	if err != nil {
		return nil, err
	}
	var chooser messages.BlockerID
	for _, b := range r.Blockers {
		if b.Type == messages.BlockerFileChooser {
			chooser = cmp.Or(chooser, b.ID)
		}
	}
	if chooser == "" {
		return nil, messages.Errorf(messages.CodeNotActionable, "no file chooser is open: click the element that opens it first").With("why", "no blocker")
	}
	paths, _ := in["paths"].([]any)
	if len(paths) == 0 {
		return d.ask("browser_blocker", map[string]any{"action": messages.ActionDismiss, "blocker_id": chooser})
	}
	given, err := d.files.read(paths, maxUploaded)
	if err != nil {
		return nil, err
	}
	return d.ask("browser_blocker", map[string]any{"action": messages.ActionAccept, "blocker_id": chooser, "files": given})
}

// dropScript drops what is given onto an element.
const dropScript = `async element => {
  const given = %s;
  const all = new DataTransfer();
  for (const f of given.files || []) all.items.add(new File([Uint8Array.from(atob(f.content), c => c.charCodeAt(0))], f.name, {type: f.mime_type || ''}));
  for (const [type, value] of Object.entries(given.data || {})) all.setData(type, value);
  const r = element.getBoundingClientRect();
  const send = type => element.dispatchEvent(new DragEvent(type, {bubbles: true, cancelable: true, composed: true, dataTransfer: all, clientX: r.left + r.width / 2, clientY: r.top + r.height / 2}));
  send('dragenter');
  if (send('dragover')) { send('dragleave'); return false; }
  send('drop');
  return true;
}`

// dropped answers Playwright's browser_drop.
func dropped(_ context.Context, d desk, in map[string]any) (*messages.ToolResult, error) {
	paths, _ := in["paths"].([]any)
	data, _ := in["data"].(map[string]any)
	if len(paths) == 0 && len(data) == 0 {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "give paths, data or both")
	}
	given := map[string]any{"data": data}
	if len(paths) > 0 {
		read, err := d.files.read(paths, maxDropped)
		if err != nil {
			return nil, err
		}
		given["files"] = read
	}
	text, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	of := map[string]any{}
	if err := point(of, in["target"]); err != nil {
		return nil, err
	}
	of["function"] = fmt.Sprintf(dropScript, text)
	r, err := d.ask("browser_evaluate", of)
	if err != nil || r.Error != nil {
		return r, err
	}
	out := *r
	if got, _ := r.Data.(map[string]any); got["value"] == false {
		return nil, messages.Errorf(messages.CodeNotActionable, "the element takes no drop: it does not cancel dragover").With("why", "no drop")
	}
	out.Text, out.Data = "Dropped.", nil
	return &out, nil
}
