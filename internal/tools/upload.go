package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"holdfast/internal/artifact"
	"holdfast/messages"
)

type uploadFile struct {
	Name       string `json:"name,omitempty" jsonschema:"default: that of the artifact"`
	Content    string `json:"content,omitempty" jsonschema:"base64; or name an artifact"`
	ArtifactID string `json:"artifact_id,omitempty" jsonschema:"a file of the task, such as one that was downloaded"`
	MIMEType   string `json:"mime_type,omitempty"`
}

type uploadInput struct {
	on
	pointer
	acting
	Files []uploadFile `json:"files"`
}

type uploadOutput struct {
	Count int `json:"count"`
}

const (
	// maxFiles bounds the files of one upload. What is given inline is bounded by [MaxInput].
	maxFiles = 20
	// uploadPart is how much of a file goes to the page in one command, in bytes.
	uploadPart = 3 << 20
	// maxFileName bounds the name and the type of a file, in bytes.
	maxFileName = 255
)

// given is one file of an upload, which has to be closed.
type given struct {
	name, mime string
	io.ReadCloser
}

func runUpload(ctx context.Context, c *call, in uploadInput) (outcome, error) {
	files, done, err := c.allGiven(in.Files)
	defer done()
	if err != nil {
		return outcome{}, err
	}
	e, err := c.element(ctx, in.pointer)
	if err != nil {
		return outcome{}, err
	}
	count, err := c.upload(ctx, e, files)
	if err != nil {
		return outcome{}, err
	}
	return outcome{text: e.what + " has " + plural(count, "file") + ".", data: uploadOutput{count}, isOfPage: true}, nil
}

// allGiven finds the content of every file. done has to be called, also after an error.
func (c *call) allGiven(of []uploadFile) (files []given, done func(), err error) {
	done = func() {
		for _, f := range files {
			_ = f.Close()
		}
	}
	if len(of) == 0 || len(of) > maxFiles {
		return nil, done, messages.Errorf(messages.CodeInvalidArgument, "files: 1 to %d", maxFiles)
	}
	for _, f := range of {
		one, err := c.given(f)
		if err != nil {
			return files, done, err
		}
		files = append(files, one)
	}
	return files, done, nil
}

// given finds the content of a file.
func (c *call) given(f uploadFile) (given, error) {
	switch {
	case len(f.Name) > maxFileName || len(f.MIMEType) > maxFileName:
		return given{}, messages.Errorf(messages.CodeInvalidArgument, "files: a name or a type is longer than %d bytes", maxFileName)
	case f.ArtifactID != "" && f.Content != "":
		return given{}, messages.Errorf(messages.CodeInvalidArgument, "files: give either content or artifact_id")
	case f.ArtifactID != "":
		file, about, err := c.artifact(f.ArtifactID)
		if err != nil {
			return given{}, err
		}
		return given{cmp.Or(f.Name, about.Name, "file"), cmp.Or(f.MIMEType, about.MIMEType), file}, nil
	case f.Name == "":
		return given{}, messages.Errorf(messages.CodeInvalidArgument, "files: a name is missing")
	}
	raw, err := base64.StdEncoding.DecodeString(f.Content)
	if err != nil {
		return given{}, messages.Errorf(messages.CodeInvalidArgument, "files: the content of %q is not base64", cut(f.Name, 100))
	}
	return given{f.Name, f.MIMEType, io.NopCloser(bytes.NewReader(raw))}, nil
}

// upload gives files to a file input. Their bytes go to the page in parts, so that the browser
// may be on another machine, and a file larger than one message.
func (c *call) upload(ctx context.Context, e element, files []given) (int, error) {
	var got struct {
		Why   string `json:"why"`
		Count int    `json:"count"`
	}
	if err := c.run(ctx, e, uploadBeginScript, &got, len(files)); err != nil {
		return 0, err
	}
	if got.Why != "" {
		return 0, messages.Errorf(messages.CodeNotActionable, "%s: %s", e.what, strings.Replace(got.Why, "single", "it takes one file only", 1)).With("why", got.Why)
	}
	part := make([]byte, uploadPart)
	about := make([]map[string]string, len(files))
	for i, f := range files {
		about[i] = map[string]string{"name": f.name, "type": f.mime}
		for isLast := false; !isLast; {
			n, err := io.ReadFull(f, part)
			isLast = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			if err != nil && !isLast {
				return 0, err
			}
			if n > 0 {
				if err := c.run(ctx, e, uploadPartScript, nil, i, base64.StdEncoding.EncodeToString(part[:n])); err != nil {
					return 0, err
				}
			}
		}
	}
	err := c.run(ctx, e, uploadScript, &got, about)
	return got.Count, err
}

// artifact opens an artifact of the task by its id.
func (c *call) artifact(id string) (io.ReadSeekCloser, messages.Artifact, error) {
	if c.artifacts == nil {
		return nil, messages.Artifact{}, messages.Errorf(messages.CodeForbidden, "this node keeps no artifacts")
	}
	parsed, err := artifact.ParseID(id)
	if err != nil {
		return nil, messages.Artifact{}, err
	}
	return c.artifacts.Open(c.task, parsed)
}
