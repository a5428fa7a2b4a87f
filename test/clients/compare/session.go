package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callLimit is how long an agent's client waits for the answer to one call.
const callLimit = 30 * time.Second

// thinks is how long an agent takes before each call. A model takes longer; it is no part of a
// task's time.
const thinks = 250 * time.Millisecond

// errTool is what a server's own word of a failure is.
var errTool = errors.New("the tool failed")

// session is a server and what the calls to it have cost.
type session struct {
	client *mcp.ClientSession
	cmd    *exec.Cmd
	dir    string
	log    io.Writer

	calls int
	chars int
	took  time.Duration // of all calls
}

// connect starts the server in its folder.
func (s *session) connect(ctx context.Context, cmd *exec.Cmd) error {
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "HOME="+s.dir, "NO_COLOR=1"), cmd.Env...)
	// Its own children end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	client := mcp.NewClient(&mcp.Implementation{Name: "compare", Version: "1"}, nil)
	//lint:ignore SA1019 servers that take files ask for it, until they have another way
	client.AddRoots(&mcp.Root{URI: "file://" + s.dir, Name: "dir"})
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s.cmd = cmd
	var err error
	s.client, err = client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: 2 * time.Second}, nil)
	return err
}

// close ends the server and what it has started.
func (s *session) close() {
	_ = s.client.Close() // one that hangs is ended below
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
}

// definitions is how many tools the server offers, and the characters of their definitions as a
// model is given them.
func (s *session) definitions(ctx context.Context) (tools, chars int, err error) {
	for t, err := range s.client.Tools(ctx, nil) {
		if err != nil {
			return 0, 0, err
		}
		text, err := json.Marshal(struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			InputSchema any    `json:"inputSchema"`
		}{t.Name, t.Description, t.InputSchema})
		if err != nil {
			return 0, 0, err
		}
		tools++
		chars += utf8.RuneCount(text)
	}
	return tools, chars, nil
}

// start begins to count.
func (s *session) start() { s.calls, s.chars, s.took = 0, 0, 0 }

type input map[string]any

// call calls a tool and returns the words that a model would read.
func (s *session) call(ctx context.Context, tool string, in input) (string, error) {
	select {
	case <-time.After(thinks):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	s.calls++
	began := time.Now()
	defer func() { s.took += time.Since(began) }()
	r, err := s.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: in})
	var words []string
	if err == nil {
		for _, c := range r.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				words = append(words, t.Text)
			}
		}
	}
	text := strings.Join(words, "\n")
	s.chars += utf8.RuneCountInString(text)
	if s.log != nil {
		shown, _ := json.Marshal(in) // of strings and numbers
		fmt.Fprintf(s.log, "    %s %s: %d ms, %d characters, %v\n", tool, shown, time.Since(began).Milliseconds(), len(text), err)
		fmt.Fprintf(s.log, "      | %s\n", strings.ReplaceAll(shorten(text, 1500), "\n", "\n      | "))
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", tool, err)
	case r.IsError:
		return text, fmt.Errorf("%s: %w: %s", tool, errTool, shorten(text, 300))
	}
	return text, nil
}

func shorten(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
