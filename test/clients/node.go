package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Build builds the product's binary into a folder, of an absolute path, and returns its path. The
// process runs in the folder of this module.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "holdfast")
	c := exec.CommandContext(ctx, "go", "-C", filepath.Join("..", ".."), "build", "-o", binary, "./cmd/node")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the node: %w\n%s", err, out)
	}
	return binary, nil
}

// Node is a node in a process of its own, as operators run it.
type Node struct {
	URL   string // of its HTTP interface
	Token string // the admin token

	binary, dir string
	process     *exec.Cmd
	ended       chan error
	log         bytes.Buffer // to be read once ended is closed
}

// StartNode starts a built node with its state in dir; ctx bounds the start alone.
func StartNode(ctx context.Context, binary, dir string) (*Node, error) {
	n := &Node{binary: binary, dir: dir, ended: make(chan error, 1)}
	n.process = exec.Command(binary, "serve", "--listen", "127.0.0.1:0", "--state-dir", dir)
	n.process.Stdout, n.process.Stderr = &n.log, &n.log
	if err := n.process.Start(); err != nil {
		return nil, err
	}
	go func() { n.ended <- n.process.Wait() }()
	for {
		if err := n.find(); err == nil {
			return n, nil
		}
		select {
		case err := <-n.ended:
			return nil, fmt.Errorf("the node ended as it started: %w\n%s", err, n.log.String())
		case <-ctx.Done():
			return nil, fmt.Errorf("the node did not start: %w\n%s", ctx.Err(), n.Stop())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// find reads where the node is from the file that serve writes.
func (n *Node) find() error {
	text, err := os.ReadFile(filepath.Join(n.dir, "endpoint.json"))
	if err != nil {
		return err
	}
	var endpoint struct {
		URL       string `json:"url"`
		TokenFile string `json:"token_file"`
	}
	if err := json.Unmarshal(text, &endpoint); err != nil {
		return err
	}
	token, err := os.ReadFile(endpoint.TokenFile)
	n.URL, n.Token = endpoint.URL, strings.TrimSpace(string(token))
	return err
}

// Stop ends the node and returns what it logged.
func (n *Node) Stop() string {
	_ = n.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-n.ended:
	case <-time.After(30 * time.Second):
		_ = n.process.Process.Kill()
		<-n.ended
	}
	return n.log.String()
}

// Ask sends a request to the node and decodes the answer into out, which may be nil.
func (n *Node) Ask(ctx context.Context, method, path string, body, out any) error {
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		text = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, n.URL+path, text)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+n.Token)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// StartTask starts a task on the browser at a CDP address.
func (n *Node) StartTask(ctx context.Context, id, browser string, spec map[string]any) error {
	body := map[string]any{"cdp_url": browser}
	for k, v := range spec {
		body[k] = v
	}
	return n.Ask(ctx, http.MethodPut, "/v1/tasks/"+id, body, nil)
}

// Address is the task's CDP endpoint, as a client is given it that sends no headers.
func (n *Node) Address(scheme, id string, query url.Values) string {
	q := url.Values{"token": {n.Token}}
	for k, v := range query {
		q[k] = v
	}
	return n.bare(scheme, id, q)
}

// bare is the task's CDP endpoint without a token.
func (n *Node) bare(scheme, id string, query url.Values) string {
	host := strings.TrimPrefix(n.URL, "http://")
	path := "/cdp/" + id
	if scheme == "ws" {
		path += "/devtools/browser/" + id // chromedp takes no other as it is
	}
	return scheme + "://" + host + path + "?" + query.Encode()
}
