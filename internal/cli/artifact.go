package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"holdfast/messages"
)

type artifactCmd struct {
	Ls  artifactLsCmd  `cmd:"" help:"List the files of a task: screenshots, downloads, long output and others."`
	Get artifactGetCmd `cmd:"" help:"Save one, held to its hash."`
	Put artifactPutCmd `cmd:"" help:"Give a task that runs a file, for browser_file_upload."`
}

type artifactLsCmd struct {
	ID taskID `arg:"" predictor:"task" help:"The task; one that has ended, too."`
	reaching
}

// Run implements the command.
func (c *artifactLsCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	list, err := node.Artifacts(r, c.ID.TaskID)
	if err != nil || r.IsJSON {
		return err
	}
	if len(list.Artifacts) == 0 {
		r.people("no artifacts\n")
		return nil
	}
	t := newTable(r.screen(), "ARTIFACT", "KIND", "STATE", "BYTES", "MADE", "NAME").fit([]string{"BYTES", "MADE"}, []string{"NAME"})
	for _, a := range list.Artifacts {
		t.row(clean(string(a.ArtifactID)), clean(a.Kind), clean(string(a.State)), strconv.FormatInt(a.Size, 10), clock(a.CreatedAt), clean(a.Name))
	}
	t.flush()
	return nil
}

type artifactGetCmd struct {
	ID       taskID `arg:"" predictor:"task" help:"The task."`
	Artifact string `arg:"" help:"The artifact's id, such as a-k3j2h4g5f6d7s8a9."`
	To       string `arg:"" optional:"" help:"The file to write, which must not exist; - is standard output, which is the default."`
	reaching
}

// Run implements the command.
func (c *artifactGetCmd) Run(r *run) (err error) {
	node, err := r.clientThat(nil)
	if err != nil {
		return err
	}
	defer node.Close()
	if c.To == "" || c.To == "-" {
		_, err = node.ReadArtifact(r, c.ID.TaskID, messages.ArtifactID(c.Artifact), r.Stdout)
		return err
	}
	// A name that a page has made up decides over no file of the person's.
	f, err := os.OpenFile(c.To, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return usagef("%s cannot be made: %v", c.To, errors.Unwrap(err))
	}
	n, err := node.ReadArtifact(r, c.ID.TaskID, messages.ArtifactID(c.Artifact), f)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(c.To)
		return err
	}
	r.people("%s: %d bytes\n", clean(c.To), n)
	return nil
}

type artifactPutCmd struct {
	ID   taskID `arg:"" predictor:"task" help:"The task."`
	File string `arg:"" help:"The file; - reads standard input."`
	Name string `help:"Its name for pages; by default that of the file."`
	reaching
}

// Run implements the command.
func (c *artifactPutCmd) Run(r *run) error {
	node, err := r.clientThat(nil) // the JSON of the outcome is made here
	if err != nil {
		return err
	}
	defer node.Close()
	in, name := r.Stdin, c.Name
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return usagef("%s cannot be read: %v", c.File, errors.Unwrap(err))
		}
		defer f.Close()
		if in = f; name == "" {
			name = filepath.Base(c.File)
		}
	}
	a, err := node.SendArtifact(r, c.ID.TaskID, name, in)
	if err != nil {
		return err
	}
	if r.IsJSON {
		return json.NewEncoder(r.Stdout).Encode(messages.ArtifactReply{Artifact: a})
	}
	_, err = fmt.Fprintln(r.Stdout, a.ArtifactID)
	return err
}
