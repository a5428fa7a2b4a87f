package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// Names of the clients that run on Node.
const (
	puppeteer  = "puppeteer"
	playwright = "playwright"
)

// goPeers and nodePeers are who Holdfast is measured beside.
var (
	goPeers   = []string{worker.Chromedp, worker.Rod, worker.Mafredri}
	nodePeers = []string{puppeteer, playwright}
)

// hand is a client's process.
type hand struct {
	*stage.Child
	name string
}

// profiles names the variable that says where the CPU profile of each process
// written in Go goes, if anywhere.
const profiles = "BENCH_PROFILES"

// profile is the file for the next process's, or "".
func (b *bench) profile(process string) string {
	dir := os.Getenv(profiles)
	if dir == "" {
		return ""
	}
	b.profiled++
	return filepath.Join(dir, fmt.Sprintf("%s-%d.prof", process, b.profiled))
}

// hire starts a client. What it is called in tables stands apart from what it
// is: a floor may be measured twice.
func (b *bench) hire(client string, o worker.Options) (*hand, error) {
	var c *stage.Child
	var err error
	switch client {
	case puppeteer, playwright:
		c, err = stage.Spawn("node", "--expose-gc", filepath.Join(b.root, "internal/bench/node/worker.mjs"), client)
	default:
		c, err = stage.Spawn(b.self, "worker", "-profile", b.profile(client), "-links", strconv.Itoa(o.Links), "-bridge", o.Bridge, "-tasks", strconv.Itoa(o.Tasks),
			"-node", o.Node, "-token", o.Token, client)
	}
	if err != nil {
		return nil, err
	}
	return &hand{c, client}, nil
}

// tell gives an order and waits for the answer.
func (h *hand) tell(o worker.Order) (worker.Answer, error) {
	if err := h.say(o); err != nil {
		return worker.Answer{}, err
	}
	return h.hear()
}

func (h *hand) say(o worker.Order) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = h.In.Write(append(line, '\n'))
	return err
}

func (h *hand) hear() (a worker.Answer, err error) {
	line, err := h.Out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("%s: %w", h.name, err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("%s: %w", h.name, err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("%s: %w", h.name, errors.New(a.Error))
	}
	return a, nil
}
