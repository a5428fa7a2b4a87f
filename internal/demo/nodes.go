package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"holdfast/client"
	"holdfast/internal/cluster/certs"
	"holdfast/internal/token"
)

const (
	loopback = "127.0.0.1"
	// portsOfNode is how many ports a node has from that in cluster.voters on.
	portsOfNode = 4
	// lowestPort and highestPort are below those that systems give to connections that are dialled, or a
	// port could be taken between the look and the node's own start.
	lowestPort, highestPort = 20_000, 32_000
)

// nodes are the processes of a cluster.
type nodes struct {
	dir, program string
	token        token.Admin
	tokenFile    string
	list         []*clusterNode
}

// clusterNode is one of them.
type clusterNode struct {
	name    string
	address string // its place in cluster.voters
	cmd     *exec.Cmd
	log     string
	client  *client.Client
	ended   chan struct{}
}

// prepare makes what three nodes need to know each other, in a directory. It starts none.
func prepare(dir string) (*nodes, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &nodes{dir: dir, program: program, tokenFile: filepath.Join(dir, "token")}
	if c.token, err = token.LoadOrCreate(c.tokenFile); err != nil {
		return nil, err
	}
	names := []string{"a", "b", "c"}
	port, err := freePorts(len(names) * portsOfNode)
	if err != nil {
		return nil, err
	}
	var known []certs.Node
	for i, name := range names {
		known = append(known, certs.Node{Name: name, Addresses: []string{loopback}})
		c.list = append(c.list, &clusterNode{
			name: name, address: net.JoinHostPort(loopback, strconv.Itoa(port+i*portsOfNode)),
			log: filepath.Join(dir, name+".log"), ended: make(chan struct{}),
		})
	}
	_, err = certs.Init(c.certs(), known, time.Now())
	return c, err
}

func (c *nodes) certs() string { return filepath.Join(c.dir, "certs") }

// freePorts returns the first of n ports in a row that are free.
func freePorts(n int) (int, error) {
	var err error
	for range 100 {
		first := lowestPort + rand.IntN(highestPort-lowestPort)
		if err = areFree(first, n); err == nil {
			return first, nil
		}
	}
	return 0, fmt.Errorf("find free ports: %w", err)
}

func areFree(first, n int) error {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			return err
		}
		_ = l.Close() // it was free
	}
	return nil
}

// named returns the node of a name, or nil.
func (c *nodes) named(name string) *clusterNode {
	if i := slices.IndexFunc(c.list, func(n *clusterNode) bool { return n.name == name }); i >= 0 {
		return c.list[i]
	}
	return nil
}

// start starts all, and waits until each answers.
func (c *nodes) start(ctx context.Context) error {
	var voters []string
	for _, n := range c.list {
		voters = append(voters, n.name+"="+n.address)
	}
	var (
		starting sync.WaitGroup
		errs     = make([]error, len(c.list))
	)
	for i, n := range c.list {
		starting.Go(func() { errs[i] = c.startNode(ctx, n, strings.Join(voters, ",")) })
	}
	starting.Wait()
	return errors.Join(errs...)
}

// startNode starts one node, which ends with ctx at the latest.
func (c *nodes) startNode(ctx context.Context, n *clusterNode, voters string) error {
	n.cmd = exec.CommandContext(ctx, c.program, "serve", "--json", "--listen", loopback+":0", "--log-format", "text",
		"--state-dir", filepath.Join(c.dir, n.name), "--token-file", c.tokenFile,
		"--node-name", n.name, "--cluster-voters", voters,
		"--cluster-cert", filepath.Join(c.certs(), certs.CertFile(n.name)), "--cluster-key", filepath.Join(c.certs(), certs.KeyFile(n.name)),
		"--cluster-ca", filepath.Join(c.certs(), certs.CAFile), "--cluster-seal-key", filepath.Join(c.certs(), certs.SealKeyFile))
	// Settings of the caller's own node are not meant for these.
	n.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HOLDFAST_") })
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	n.cmd.Stderr = log
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := n.cmd.Start(); err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	go func() {
		defer close(n.ended)
		_, _ = io.Copy(io.Discard, out)
		_ = n.cmd.Wait() // it is ended by force
	}()
	var said struct {
		URL string `json:"url"`
	}
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil {
		return fmt.Errorf("node %s did not start: %s", n.name, n.lastWords())
	}
	n.client, err = client.New(said.URL, client.Options{Token: c.token.Reveal()})
	return err
}

// lastWords is the last line of the node's log.
func (n *clusterNode) lastWords() string {
	log, err := os.ReadFile(n.log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	return string(lines[len(lines)-1])
}

// kill ends the node's process by force, and waits for its end.
func (n *clusterNode) kill() {
	if n.client != nil {
		n.client.Close()
	}
	if n.cmd == nil || n.cmd.Process == nil {
		return
	}
	_ = n.cmd.Process.Kill() // it may have ended
	<-n.ended
}

// kill ends all. Nothing of them is kept, so none is asked to end in good order.
func (c *nodes) kill() {
	for _, n := range c.list {
		n.kill()
	}
}
