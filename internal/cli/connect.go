package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"holdfast/client"
	"holdfast/internal/nodeurl"
	"holdfast/messages"
)

// maxStandby bounds --wait.
const maxStandby = time.Hour

type connectCmd struct {
	ID      taskID  `arg:"" predictor:"task" help:"The task."`
	Port    uint16  `placeholder:"PORT" help:"The port on 127.0.0.1; a free one when not given."`
	Dialogs string  `enum:"holdfast,client,observe" default:"holdfast" help:"Who answers dialogs: holdfast (the task's policy and agents; hidden from the client), client, or observe (the client sees them)."`
	Mode    string  `enum:"shared,exclusive" default:"shared" help:"Whether other clients may be on the task: shared or exclusive."`
	Name    string  `placeholder:"NAME" help:"How the client is called in lists and logs."`
	Wait    seconds `placeholder:"SECONDS" help:"How long a client waits for its turn, or for the task's browser. Default: not at all."`
	Start   bool    `help:"Start the task with its defaults where it does not run."`
	reaching
}

// Run implements the command. It ends on SIGINT, and its clients with it.
func (c *connectCmd) Run(r *run) error {
	wait := time.Duration(float64(c.Wait) * float64(time.Second))
	if wait < 0 || wait > maxStandby {
		return usagef("--wait must be at most %v", maxStandby)
	}
	address, tok, err := r.find()
	if err != nil {
		return err
	}
	n, err := r.clientThat(nil)
	if err != nil {
		return err
	}
	defer n.Close()
	node, err := nodeurl.Parse(address)
	if err != nil {
		return err
	}
	if err := c.find(r, n, wait); err != nil {
		return err
	}
	lis, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(c.Port))))
	if err != nil {
		if errors.Is(err, errnoAddressInUse) {
			return messages.Errorf(codeAddressInUse, "another process listens on port %d", c.Port).WithHint("name another one with --port, or leave it out for a free one")
		}
		return fmt.Errorf("listen on port %d: %w", c.Port, err)
	}
	query := url.Values{"dialogs": {c.Dialogs}, "mode": {c.Mode}}
	if c.Name != "" {
		query.Set("client", c.Name)
	}
	p := newDebugPort(node, tok, c.ID.TaskID, query, wait)
	ws := "ws://" + lis.Addr().String() + "/devtools/browser/" + url.PathEscape(string(c.ID.TaskID))
	if r.IsJSON {
		err = json.NewEncoder(r.Stdout).Encode(map[string]any{"task_id": c.ID.TaskID, "url": "http://" + lis.Addr().String(), "web_socket_debugger_url": ws})
	} else {
		// In the words of a browser, which some tools read.
		_, err = fmt.Fprintf(r.Stdout, "DevTools listening on %s\n", ws)
	}
	if err != nil {
		_ = lis.Close()
		return err
	}
	return p.serve(r, lis)
}

// find waits until the node has the task.
func (c *connectCmd) find(ctx context.Context, n *client.Client, wait time.Duration) error {
	s := standby{wait: wait}
	return s.try(ctx, func() (isFinal bool, err error) {
		if c.Start {
			_, _, err = n.GetOrStart(ctx, c.ID.TaskID, messages.TaskSpec{})
		} else {
			_, err = n.Snapshot(ctx, c.ID.TaskID, messages.SnapshotOptions{})
		}
		var gone *client.Unreachable
		return !errors.As(err, &gone) && messages.CodeOf(err) != messages.CodeUpstreamUnavailable, err
	})
}

// Help implements kong.HelpProvider.
func (*connectCmd) Help() string {
	return `For tools that take only the port of a browser: --remote-debugging-port of the task.

Examples:
  holdfast connect checkout-7 --port 9222
  holdfast connect checkout-7 --port 9222 --dialogs client --mode exclusive --wait 30s`
}
