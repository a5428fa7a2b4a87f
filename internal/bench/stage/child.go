package stage

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// endPatience is how long a child may take to end once it was told.
const endPatience = 10 * time.Second

// Child is a process of the bench's own that ends when its standard input does.
type Child struct {
	cmd *exec.Cmd
	In  io.WriteCloser
	Out *bufio.Reader
}

// Spawn starts a child. Its standard error is this process's.
func Spawn(name string, args ...string) (*Child, error) {
	c := &Child{cmd: exec.Command(name, args...)}
	c.cmd.Stderr = os.Stderr
	var err error
	if c.In, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.Out = bufio.NewReaderSize(out, 1<<20)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return c, nil
}

// PID is the child's process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// End ends the child: by the end of its input, and if that does not help, by
// force.
func (c *Child) End() {
	_ = c.In.Close()
	force := time.AfterFunc(endPatience, func() { _ = c.cmd.Process.Kill() })
	defer force.Stop()
	_ = c.cmd.Wait() // how it ends does not matter
}

// Fakes is the process of the fake browsers.
type Fakes struct {
	*Child
	addr string
}

// StartFakes starts it; self is this program, profile a file for its CPU profile
// or "".
func StartFakes(self, profile string) (*Fakes, error) {
	c, err := Spawn(self, "fakes", "-profile", profile)
	if err != nil {
		return nil, err
	}
	addr, err := c.Out.ReadString('\n')
	if err != nil {
		c.End()
		return nil, fmt.Errorf("fake browsers: %w", err)
	}
	return &Fakes{Child: c, addr: strings.TrimSpace(addr)}, nil
}

func (f *Fakes) order(what string, order, answer any) error {
	body, err := json.Marshal(order)
	if err != nil {
		return err
	}
	resp, err := http.Post("http://"+f.addr+"/"+what, "application/json", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("fake browsers: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("fake browsers: %s: %s", what, why)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}

// Make makes browsers.
func (f *Fakes) Make(m Making) (places []Place, err error) {
	return places, f.order("make", m, &places)
}

// Drop cuts every connection to every browser.
func (f *Fakes) Drop() error { return f.order("drop", struct{}{}, nil) }

// Dialog has a page raise a dialog.
func (f *Fakes) Dialog(d DialogOrder) error { return f.order("dialog", d, nil) }

// Stamps says when the last dialog of a browser was told of and answered.
func (f *Fakes) Stamps(number int) (s Stamps, err error) { return s, f.order("stamps", number, &s) }
