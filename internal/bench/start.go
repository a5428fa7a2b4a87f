package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// start is how long a node takes from its process's beginning until it says it
// is ready, to a program that does nothing but listen.
func (b *bench) start() ([]figure.Table, error) {
	binary, err := b.product()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hf-bench-")
	if err != nil {
		return nil, err
	}
	b.later(func() { _ = os.RemoveAll(dir) })
	var took, first, second figure.Samples
	for round := range 2*rounds + 1 {
		node, err := b.startOnce(func() (*stage.Node, error) { return stage.Serve(binary, filepath.Join(dir, fmt.Sprint(round))) })
		if err != nil {
			return nil, err
		}
		var bare [2]float64
		for i := range bare {
			if bare[i], err = b.startOnce(func() (*stage.Node, error) { return stage.ServeNothing(b.self) }); err != nil {
				return nil, err
			}
		}
		if round > 0 { // with the binary in the page cache
			took, first, second = append(took, node), append(first, bare[0]), append(second, bare[1])
		}
	}
	floor := first.And(second)
	return []figure.Table{{
		Title: "A node's start, from its process to ready", Unit: "ms", Noise: second.Over(first),
		Rows: []figure.Row{
			{Name: "a program that only listens", Value: floor, Ratio: floor.Over(floor)},
			{Name: worker.Holdfast, Value: took, Ratio: took.Over(floor), Goal: figure.ValueAtMost(100), Ours: true},
		},
	}}, nil
}

func (b *bench) startOnce(start func() (*stage.Node, error)) (float64, error) {
	begun := time.Now()
	n, err := start()
	if err != nil {
		return 0, err
	}
	defer n.Kill()
	for {
		resp, err := http.Get(n.URL + "/readyz")
		if err != nil {
			return 0, err
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return time.Since(begun).Seconds() * 1e3, nil
		}
		if time.Since(begun) > 10*time.Second {
			return 0, fmt.Errorf("not ready: %s", resp.Status)
		}
	}
}

// size is what make build makes.
func (b *bench) size() ([]figure.Table, error) {
	const mb = 1e6
	binary, err := b.product()
	if err != nil {
		return nil, err
	}
	whole, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	bare := binary + "-bare"
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bare, "./cmd/node")
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w\n%s", err, out)
	}
	stripped, err := os.Stat(bare)
	if err != nil {
		return nil, err
	}
	return []figure.Table{{
		Title: "The binary", Unit: "MB",
		Rows: []figure.Row{
			{Name: worker.Holdfast, Value: figure.Samples{float64(whole.Size()) / mb}, Goal: figure.ValueAtMost(30), Ours: true, Note: "as make build makes it"},
			{Name: "without symbols", Value: figure.Samples{float64(stripped.Size()) / mb}, Ours: true},
		},
	}}, nil
}
