package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"holdfast/internal/nodeurl"
	"holdfast/messages"
)

type uiCmd struct {
	ID taskID `arg:"" predictor:"task" optional:"" help:"Open on this task."`
	reaching
}

// Run implements the command. The link carries a code that is good once and for a
// minute: addresses stay in a browser's history, and every user of a machine reads its
// command lines, so it is printed and not opened.
func (c *uiCmd) Run(r *run) error {
	node, tok, err := r.find()
	if err != nil {
		return err
	}
	if tok == "" {
		return messages.Errorf(messages.CodeUnauthorized, "no token is known: name its file with --token-file")
	}
	if _, ok := nodeurl.SocketPath(node); ok {
		return messages.Errorf(messages.CodeInvalidArgument, "the node listens on a Unix socket, where no browser reaches its live page").
			WithHint("serve an address with --listen HOST:PORT")
	}
	n, err := r.clientThat(nil)
	if err != nil {
		return err
	}
	defer n.Close()
	code, err := n.LoginCode(r)
	if err != nil {
		return err
	}
	link := strings.TrimRight(node, "/") + "/ui/#code=" + url.QueryEscape(code.Code)
	if c.ID.TaskID != "" {
		link += "&task=" + url.QueryEscape(string(c.ID.TaskID))
	}
	if r.IsJSON {
		return json.NewEncoder(r.Stdout).Encode(map[string]any{"url": link, "expires_at": code.ExpiresAt})
	}
	fmt.Fprintln(r.Stdout, link)
	return nil
}
