package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"holdfast/messages"
)

type uiCmd struct {
	ID taskID `arg:"" optional:"" help:"Open on this task."`
}

// Run implements the command. The token goes behind the #, which no browser
// sends to anybody, and which the page takes out of its address at once. It is
// printed and not opened: a browser's command line is everybody's to read.
func (c *uiCmd) Run(r *run) error {
	node, tok, err := r.find()
	if err != nil {
		return err
	}
	if tok == "" {
		return messages.Errorf(messages.CodeUnauthorized, "no token is known: name its file with --token-file")
	}
	link := strings.TrimRight(node, "/") + "/ui/#token=" + url.QueryEscape(tok)
	if c.ID.TaskID != "" {
		link += "&task=" + url.QueryEscape(string(c.ID.TaskID))
	}
	if r.JSON {
		return json.NewEncoder(r.Stdout).Encode(map[string]string{"url": link})
	}
	fmt.Fprintln(r.Stdout, link)
	return nil
}
