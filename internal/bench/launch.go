package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"time"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/worker"
	"holdfast/internal/browser"
)

const (
	launchPatience = 30 * time.Second
	warmed         = worker.Holdfast + ", from a browser that is kept warm"
)

// launch is how long the start of a task takes that needs a browser, until the task is active, to
// the bare launch of one until /json/version answers.
func (b *bench) launch() ([]figure.Table, error) {
	path, err := browser.Find("")
	if err != nil {
		return nil, err
	}
	cold, err := b.serve()
	if err != nil {
		return nil, err
	}
	warm, err := b.serve("--browsers-warm=1")
	if err != nil {
		return nil, err
	}
	var took, quick, first, second figure.Samples
	for round := range rounds + 1 {
		var bare [2]float64
		for i := range bare {
			if bare[i], err = launchBare(path); err != nil {
				return nil, err
			}
		}
		one, err := cold.startTask()
		if err != nil {
			return nil, err
		}
		if err := warm.awaitWarm(); err != nil {
			return nil, err
		}
		other, err := warm.startTask()
		if err != nil {
			return nil, err
		}
		if err := warm.awaitWarm(); err != nil { // what it launches is not the next round's
			return nil, err
		}
		if round > 0 { // with the browser in the page cache
			took, quick, first, second = append(took, one), append(quick, other), append(first, bare[0]), append(second, bare[1])
		}
	}
	floor := first.And(second)
	return []figure.Table{{
		Title: "The start of a task that launches Chromium, to active", Unit: "ms", Noise: second.Over(first),
		Rows: []figure.Row{
			{Name: "Chromium alone, until /json/version answers", Value: floor, Ratio: floor.Over(floor)},
			{Name: worker.Holdfast, Value: took, Ratio: took.Over(floor), Goal: figure.RatioAtMost(1.05), Ours: true},
			{Name: warmed, Value: quick, Ratio: quick.Over(floor), Goal: figure.ValueAtMost(50), Ours: true},
		},
	}}, nil
}

var listeningAt = regexp.MustCompile(`DevTools listening on ws://([^/]+)/`)

// launchBare starts Chromium and ends it, and returns the milliseconds until it answers.
func launchBare(path string) (float64, error) {
	dir, err := os.MkdirTemp("", "hf-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), launchPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--headless=new", "--disable-gpu", "--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--remote-debugging-port=0", "--user-data-dir="+dir, "about:blank")
	out, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // it was killed
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		at := listeningAt.FindStringSubmatch(lines.Text())
		if at == nil {
			continue
		}
		resp, err := http.Get("http://" + at[1] + "/json/version")
		if err != nil {
			return 0, err
		}
		_ = resp.Body.Close()
		return time.Since(begun).Seconds() * 1e3, nil
	}
	return 0, fmt.Errorf("no address of Chromium: %w", lines.Err())
}

// startTask starts a task with a browser of its own and ends it, and returns the milliseconds
// until it was active.
func (s *served) startTask() (float64, error) {
	const path = "/v1/tasks/launched"
	begun := time.Now()
	if err := s.ask(http.MethodPut, path, struct{}{}, nil); err != nil {
		return 0, err
	}
	took := time.Since(begun).Seconds() * 1e3
	return took, s.ask(http.MethodDelete, path, nil, nil)
}

// awaitWarm waits until a browser is ready.
func (s *served) awaitWarm() error {
	for deadline := time.Now().Add(launchPatience); ; time.Sleep(20 * time.Millisecond) {
		if ready, err := s.counted("holdfast_browsers_warm"); err != nil || ready == 1 {
			return err
		}
		if time.Now().After(deadline) {
			return errors.New("no browser is warm")
		}
	}
}
