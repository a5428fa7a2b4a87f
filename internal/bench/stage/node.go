package stage

import (
	"encoding/json"
	"fmt"
)

// Node is the product's binary, serving.
type Node struct {
	*Child
	URL       string `json:"url"`
	TokenFile string `json:"token_file"`
}

// Serve starts binary as a node on a free port, with its state in dir, and
// returns when it says that it serves.
func Serve(binary, dir string, args ...string) (*Node, error) {
	c, err := Spawn(binary, append([]string{"serve", "--json", "--listen=127.0.0.1:0", "--state-dir=" + dir, "--log-level=error"}, args...)...)
	if err != nil {
		return nil, err
	}
	n := &Node{Child: c}
	line, err := c.Out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, n)
	}
	if err != nil {
		n.Kill()
		return nil, fmt.Errorf("serve: %w", err)
	}
	return n, nil
}

// Kill ends the node without a word: it holds nothing that it would have to
// let go of.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill() // it may have ended
	_ = n.cmd.Wait()
}
