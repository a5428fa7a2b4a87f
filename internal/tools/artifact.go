package tools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode/utf8"

	"holdfast/internal/artifact"
	"holdfast/internal/redact"
	"holdfast/messages"
)

// artifactTools show the files of a task.
var artifactTools = []Tool{
	define[artifactsInput, artifactsOutput](Tool{
		Name: "browser_artifacts", Title: "Artifacts", Group: "reports", needsNoTask: true,
		Description: "List the files of the task: screenshots, PDFs, downloads, uploads, and output that was too long for an answer. Read one that is text, in parts.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runArtifacts),
}

type artifactsInput struct {
	on
	Action     string `json:"action" enum:"list|read"`
	ArtifactID string `json:"artifact_id,omitempty" jsonschema:"for read"`
	Offset     int64  `json:"offset,omitempty" min:"0" max:"67108864" jsonschema:"byte to read from"`
	MaxChars   int    `json:"max_chars,omitempty" min:"500" max:"1000000" jsonschema:"default 15000"`
}

type artifactsOutput struct {
	*messages.ArtifactList
	Content string `json:"content,omitempty"`
	// NextOffset is where the rest begins; absent at the end.
	NextOffset int64 `json:"next_offset,omitempty"`
}

// WithArtifacts has the table keep files in a store, and returns it. Without one, tools give
// their files inline alone. It has to be called before the table is used.
func (t *Table) WithArtifacts(s *artifact.Store) *Table {
	t.artifacts = s
	return t
}

// keep keeps a file that a tool has made. A store that fails costs the caller no result.
func (c *call) keep(ctx context.Context, about messages.Artifact, raw []byte) messages.Artifact {
	if c.artifacts != nil {
		kept, err := c.artifacts.Put(c.task, about, bytes.NewReader(raw))
		if err == nil {
			return kept
		}
		c.log.LogAttrs(ctx, slog.LevelError, "an artifact could not be kept", slog.String("tool", c.name), slog.String("task", string(c.task)), slog.String("err", redact.Text(err.Error())))
		about.State = messages.ArtifactMissing
	}
	sum := sha256.Sum256(raw)
	about.Size, about.SHA256 = int64(len(raw)), hex.EncodeToString(sum[:])
	return about
}

// spilled keeps what was too long for an answer, and says so (W24).
func (c *call) spilled(ctx context.Context, out *outcome) {
	if len(out.spill) == 0 || c.artifacts == nil || int64(len(out.spill)) > artifact.MaxFile {
		return
	}
	kind := "text/plain; charset=utf-8"
	if out.isSpillJSON {
		kind = "application/json"
	}
	kept := c.keep(ctx, messages.Artifact{Kind: messages.ArtifactOutput, Name: strings.TrimPrefix(c.name, "browser_") + ".txt", MIMEType: kind}, out.spill)
	if kept.State != messages.ArtifactLive {
		return
	}
	out.files = append(out.files, kept)
	out.text += fmt.Sprintf("\n[all %d bytes are artifact %s: browser_artifacts reads it]", kept.Size, kept.ArtifactID)
}

func runArtifacts(_ context.Context, c *call, in artifactsInput) (outcome, error) {
	if c.artifacts == nil {
		return outcome{}, messages.Errorf(messages.CodeForbidden, "this node keeps no artifacts")
	}
	if in.Action == "read" {
		return c.readArtifact(in)
	}
	list := messages.NewArtifactList(c.artifacts.List(c.task))
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d live, %d evicted, %d missing\n", plural(len(list.Artifacts), "artifact"), list.Live, list.Evicted, list.Missing)
	for _, a := range list.Artifacts {
		fmt.Fprintf(&text, "- %s %s %s %d bytes %q %s\n", a.ArtifactID, a.Kind, a.State, a.Size, a.Name, a.MIMEType)
	}
	return outcome{text: cutMarked(strings.TrimSpace(text.String()), maxText), data: artifactsOutput{ArtifactList: &list}, isOfPage: true}, nil
}

// readArtifact reads a part of a text.
func (c *call) readArtifact(in artifactsInput) (outcome, error) {
	f, about, err := c.artifact(in.ArtifactID)
	if err != nil {
		return outcome{}, err
	}
	defer f.Close()
	if in.Offset > about.Size {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "offset: the artifact has %d bytes", about.Size)
	}
	if _, err := f.Seek(in.Offset, io.SeekStart); err != nil {
		return outcome{}, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, int64(cmp.Or(in.MaxChars, maxText))))
	if err != nil {
		return outcome{}, err
	}
	next := in.Offset + int64(len(raw))
	if next < about.Size { // no half characters
		for n := 1; n < utf8.UTFMax && len(raw) > n; n++ {
			if tail := raw[len(raw)-n:]; utf8.RuneStart(tail[0]) {
				if !utf8.FullRune(tail) {
					raw = raw[:len(raw)-n]
				}
				break
			}
		}
		next = in.Offset + int64(len(raw))
	}
	if !utf8.Valid(raw) {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "the artifact is no text; GET /v1/tasks/{id}/artifacts/{artifact_id} has its bytes")
	}
	out := artifactsOutput{Content: string(raw)}
	text := out.Content
	if next < about.Size {
		out.NextOffset = next
		text += fmt.Sprintf("\n[%d of %d bytes; read on from offset %d]", next, about.Size, next)
	}
	return outcome{text: text, data: out, isOfPage: true}, nil
}

// plural is a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
