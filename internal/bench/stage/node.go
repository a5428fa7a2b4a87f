package stage

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
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
	return spawnServer(binary, append([]string{"serve", "--json", "--listen=127.0.0.1:0", "--state-dir=" + dir, "--log-level=error"}, args...)...)
}

// ServeNothing starts the least that can be called a server; self is this
// program.
func ServeNothing(self string) (*Node, error) { return spawnServer(self, "nothing") }

// Nothing is what ServeNothing starts: it listens, says where, and finds
// everything well.
func Nothing(out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(map[string]string{"url": "http://" + listener.Addr().String()}); err != nil {
		return err
	}
	return http.Serve(listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}

func spawnServer(name string, args ...string) (*Node, error) {
	c, err := Spawn(name, args...)
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

// Kill ends the node at once: it holds nothing that it would have to release.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill() // it may have ended
	_ = n.cmd.Wait()
}
