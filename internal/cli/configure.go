package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"holdfast/internal/browser"
	"holdfast/internal/config"
	"holdfast/messages"
)

type configCmd struct {
	Print configPrintCmd `cmd:"" help:"Print the configuration that holds, and where each value comes from; credentials are masked."`
	Check configCheckCmd `cmd:"" help:"Say whether a configuration file is right."`
}

// configPrintCmd takes the flags of serve.
type configPrintCmd struct {
	settings
	printing
}

// Run implements the command.
func (c *configPrintCmd) Run(r *run) error {
	e, err := config.Load(c.sources(r))
	if err != nil {
		return &usageError{err: err}
	}
	for _, w := range e.Warnings {
		fmt.Fprintf(r.Stderr, "warning: %s\n", clean(w))
	}
	if r.IsJSON {
		return json.NewEncoder(r.Stdout).Encode(map[string]any{"settings": e.Settings()})
	}
	_, err = fmt.Fprint(r.Stdout, e.YAML(r.derived(e)))
	return err
}

// derived are the values in effect of settings that are empty or 0.
func (r *run) derived(e *config.Effective) map[string]string {
	out := map[string]string{}
	state := e.StateDir
	if dir, err := r.stateDir(); err == nil && state == "" {
		state, out["state_dir"] = dir, dir
	}
	if e.TokenFile == "" && state != "" {
		out["token_file"] = filepath.Join(state, tokenName)
	}
	if e.Limits.MaxBrowsers == 0 {
		out["limits.max_browsers"] = strconv.Itoa(min(maxBrowsers(e.Limits.Bounds()), e.Limits.MaxTasks))
	}
	if bounds := e.Limits.Bounds(); e.Limits.MaxTenantTasks == 0 {
		out["limits.max_tenant_tasks"] = strconv.Itoa(bounds.MaxTenantTasks)
	}
	if e.Browser.Path == "" {
		if path, err := browser.Find(""); err == nil {
			out["browser.path"] = path
		}
	}
	return out
}

type configCheckCmd struct {
	File string `arg:"" type:"path" help:"The file."`
	printing
}

var errConfig = messages.Errorf(messages.CodeInvalidArgument, "the configuration is not right")

// Run implements the command. Of the other sources it looks at none: what they
// have to say is not the file's fault.
func (c *configCheckCmd) Run(r *run) error {
	_, err := config.Load(config.Sources{File: c.File})
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return &usageError{err: err}
	}
	if r.IsJSON {
		said := []string{}
		for _, p := range problems {
			said = append(said, p.Error())
		}
		if err := json.NewEncoder(r.Stdout).Encode(map[string]any{"ok": len(said) == 0, "problems": said}); err != nil {
			return err
		}
	} else {
		for _, p := range problems {
			fmt.Fprintln(r.Stdout, clean(p.Error()))
		}
	}
	if len(problems) > 0 {
		return errConfig
	}
	r.people("%s is right\n", clean(c.File))
	return nil
}
