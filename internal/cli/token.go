package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"holdfast/internal/token"
	"holdfast/messages"
)

type tokenCmd struct {
	Task   taskID `xor:"scope" required:"" placeholder:"ID" help:"A token for this task alone."`
	Tenant string `xor:"scope" required:"" placeholder:"NAME" help:"A token for the tasks whose ids begin with NAME and a colon."`
}

// Run implements the command. No node is asked: the token follows from the
// admin token.
func (c *tokenCmd) Run(r *run) error {
	path := r.TokenFile
	if path == "" {
		dir, err := r.stateDir()
		if err != nil {
			return err
		}
		path = filepath.Join(dir, tokenName)
		if e, err := readEndpoint(dir); err == nil && e.TokenFile != "" {
			path = e.TokenFile
		}
	}
	admin, err := token.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return messages.Errorf(codeNoToken, "there is no admin token in %s", path).
			With("hint", "holdfast serve makes one when it first runs; name another file with --token-file")
	case err != nil:
		return messages.Errorf(codeNoToken, "%v", err)
	}
	tok := admin.ForTask(c.Task.TaskID)
	if c.Tenant != "" {
		if tok, err = admin.ForTenant(c.Tenant); err != nil {
			return &usageError{err: err}
		}
	}
	if r.JSON {
		return json.NewEncoder(r.Stdout).Encode(map[string]string{"token": tok})
	}
	fmt.Fprintln(r.Stdout, tok)
	return nil
}
