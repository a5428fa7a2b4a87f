package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Place says which browser a program drives, and what with.
type Place struct {
	WS   string `json:"ws"`   // address of the WebSocket
	HTTP string `json:"http"` // address for discovery
	Page string `json:"page"` // the page of the site that the steps are about
	Dir  string `json:"dir"`  // folder for downloads and state
	// Headers are sent by clients that can, to both addresses.
	Headers map[string]string `json:"headers,omitempty"`

	// For clients of MCP.
	Binary string `json:"binary,omitempty"` // the product's
	State  string `json:"state,omitempty"`  // folder of a node that it starts
	MCP    string `json:"mcp,omitempty"`    // address of MCP of a node that runs
	Token  string `json:"token,omitempty"`  // the token of that node
	// Steps is how many steps a program makes whose connections are cut; 0 is the scenario.
	Steps int `json:"steps,omitempty"`
}

// Line is what a program prints of a step: what it returned, or why it failed.
type Line struct {
	Step  string          `json:"step"`
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

// String is the line as people read it.
func (l Line) String() string {
	if l.Error != "" {
		return l.Step + " failed: " + l.Error
	}
	return l.Step + " " + string(l.Value)
}

// step is one step of a program in Go.
type step struct {
	name string
	act  func() (any, error)
}

// limit is how long one step may take.
const limit = 20 * time.Second

// runSteps runs the steps one after the other and prints a line for each. A step that fails
// does not end the program; one that never ends leaves its goroutine to the process.
func runSteps(steps []step) {
	out := json.NewEncoder(os.Stdout)
	for _, s := range steps {
		done := make(chan Line, 1)
		go func() { done <- s.line() }()
		line := Line{Step: s.name, Error: fmt.Sprintf("no end after %v", limit)}
		select {
		case line = <-done:
		case <-time.After(limit):
		}
		if out.Encode(line) != nil {
			return
		}
	}
}

func (s step) line() Line {
	value, err := s.act()
	if err == nil {
		var data []byte
		if data, err = json.Marshal(value); err == nil {
			return Line{Step: s.name, Value: data}
		}
	}
	return Line{Step: s.name, Error: err.Error()}
}

// saved waits for a download of n bytes and returns n.
func (p Place) saved(name string, n int64) (int64, error) {
	file := filepath.Join(p.Dir, name)
	for end := time.Now().Add(limit / 2); ; time.Sleep(20 * time.Millisecond) {
		info, err := os.Stat(file)
		if err == nil && info.Size() == n {
			return n, nil
		}
		if time.Now().After(end) {
			return 0, fmt.Errorf("the download %s did not come: %w", name, err)
		}
	}
}

// picture says what kind of picture b is.
func picture(b []byte) string {
	if len(b) < 4 {
		return fmt.Sprintf("%d bytes", len(b))
	}
	return string(b[1:4])
}
