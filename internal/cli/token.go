package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"holdfast/internal/token"
	"holdfast/messages"
)

// maxTokenLife is the longest that --for gives.
const maxTokenLife = 10 * 365 * 24 * time.Hour

type tokenCmd struct {
	Task   taskID        `xor:"scope" required:"" placeholder:"ID" help:"A token for this task alone."`
	Tenant string        `xor:"scope" required:"" placeholder:"NAME" help:"A token for the tasks whose ids begin with NAME and a colon."`
	For    time.Duration `placeholder:"DURATION" help:"How long it is good for, such as 1h. Default: until the admin token is replaced."`

	TokenFile string `placeholder:"FILE" type:"path" group:"The node" help:"File that holds the admin token. Default: the file that serve wrote."`
	printing
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
			WithHint("holdfast serve makes one when it first runs; name another file with --token-file")
	case err != nil:
		return messages.Errorf(codeNoToken, "%v", err)
	}
	out := struct {
		Token     string           `json:"token"`
		ExpiresAt messages.Seconds `json:"expires_at,omitzero"`
	}{Token: admin.ForTask(c.Task.TaskID)}
	scope := token.TaskScope(c.Task.TaskID)
	if c.Tenant != "" {
		if out.Token, err = admin.ForTenant(c.Tenant); err != nil {
			return &usageError{err: err}
		}
		if scope, err = token.TenantScope(c.Tenant); err != nil {
			return &usageError{err: err}
		}
	}
	if c.For != 0 {
		if c.For < time.Second || c.For > maxTokenLife {
			return usagef("--for must be 1s to %v", maxTokenLife)
		}
		end := time.Now().Add(c.For).Truncate(time.Second)
		if out.Token, err = admin.Until(scope, end); err != nil {
			return err
		}
		out.ExpiresAt = messages.SecondsOf(end)
	}
	if r.IsJSON {
		return json.NewEncoder(r.Stdout).Encode(out)
	}
	tok := out.Token
	fmt.Fprintln(r.Stdout, tok)
	return nil
}
