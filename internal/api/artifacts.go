package api

import (
	"log/slog"
	"mime"
	"net/http"
	"path/filepath"
	"time"

	"holdfast/internal/artifact"
	"holdfast/messages"
)

// errNoArtifacts refuses where a node keeps no files.
var errNoArtifacts = messages.Errorf(messages.CodeNotFound, "this node keeps no artifacts")

// maxFileName bounds the name and the type that a caller gives to a file, in bytes.
const maxFileName = 255

// listArtifacts lists the files of a task, which outlive it.
func (h *Handler) listArtifacts(w http.ResponseWriter, c *call) error {
	if h.cfg.Artifacts == nil {
		return errNoArtifacts
	}
	list := h.cfg.Artifacts.List(c.id)
	if list == nil {
		if _, err := h.cfg.Node.Snapshot(c.id, messages.SnapshotOptions{}); err != nil {
			return err
		}
	}
	h.reply(w, c, http.StatusOK, messages.NewArtifactList(list))
	return nil
}

// getArtifact answers with the bytes of a file. They may come from a page, so nothing shows
// them as a document of this host.
func (h *Handler) getArtifact(w http.ResponseWriter, c *call) error {
	if h.cfg.Artifacts == nil {
		return errNoArtifacts
	}
	id, err := artifact.ParseID(c.PathValue("artifact_id"))
	if err != nil {
		return err
	}
	f, a, err := h.cfg.Artifacts.Open(c.id, id)
	if err != nil {
		return err
	}
	defer f.Close()
	head := w.Header()
	head.Set("Content-Type", mediaType(a.MIMEType))
	head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": a.Name}))
	head.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Cache-Control", "no-store")
	head.Set("ETag", `"`+a.SHA256+`"`)
	_ = c.ctl.SetWriteDeadline(time.Now().Add(h.cfg.WriteTimeout + time.Duration(a.Size/slowest)*time.Second))
	http.ServeContent(w, c.Request, "", time.Time{}, f)
	return nil
}

// sentType is the type of a file that a caller sends: what the caller says, unless that is what
// curl calls every body, else what the name says.
func sentType(given, name string) string {
	if kind, _, err := mime.ParseMediaType(given); err != nil || kind == "application/x-www-form-urlencoded" {
		given = mime.TypeByExtension(filepath.Ext(name))
	}
	return mediaType(given)
}

// mediaType is a type that may stand in a header.
func mediaType(s string) string {
	kind, params, err := mime.ParseMediaType(s)
	if err != nil {
		return "application/octet-stream"
	}
	return mime.FormatMediaType(kind, params)
}

// putArtifact keeps the body as a file of a task that runs, for browser_file_upload.
func (h *Handler) putArtifact(w http.ResponseWriter, c *call) error {
	if h.cfg.Artifacts == nil {
		return errNoArtifacts
	}
	name, kind := c.query.Get("name"), c.Header.Get("Content-Type")
	if len(name) > maxFileName || len(kind) > maxFileName {
		return messages.Errorf(messages.CodeInvalidArgument, "the name or the type is longer than %d bytes", maxFileName)
	}
	snap, err := h.cfg.Node.Snapshot(c.id, messages.SnapshotOptions{})
	if err != nil {
		return err
	}
	if !snap.Active {
		return messages.Errorf(messages.CodeTaskNotFound, "task %s has ended", c.id)
	}
	if err := c.takeBody(artifact.MaxFile); err != nil {
		return err
	}
	start := time.Now()
	_ = c.ctl.SetReadDeadline(start.Add(h.cfg.BodyTimeout + time.Duration(max(c.ContentLength, 0)/slowest)*time.Second))
	inner := w
	if counting, ok := w.(*response); ok {
		inner = counting.ResponseWriter // the server's own, which then closes a connection with too much on it
	}
	body := &bodyReader{r: http.MaxBytesReader(inner, c.Body, artifact.MaxFile), limit: artifact.MaxFile, call: c}
	made, err := h.cfg.Artifacts.Put(c.id, messages.Artifact{Kind: messages.ArtifactUpload, Name: name, MIMEType: sentType(kind, name)}, body)
	c.caller.Audit(c.Context(), "upload", c.id, start, err, slog.Int64("bytes", made.Size))
	if err != nil {
		return err
	}
	_ = c.ctl.SetReadDeadline(time.Time{})
	w.Header().Set("Location", "/v1/tasks/"+string(c.id)+"/artifacts/"+string(made.ArtifactID))
	h.reply(w, c, http.StatusCreated, messages.ArtifactReply{Artifact: made})
	return nil
}
