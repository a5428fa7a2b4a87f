package prometheus_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen: 20 times what it
// takes on an idle machine.
const patience = 30 * time.Second

// server is a running Prometheus.
type server struct {
	*testing.T
	url    string
	client *http.Client
}

// config has Prometheus scrape every second, which is also what a scrape may
// take.
const config = `
global: {scrape_interval: 3s, scrape_timeout: 3s}
scrape_configs:
- job_name: holdfast
  static_configs: [{targets: [%q]}]
`

// listening is the line in which Prometheus says where it listens.
var listening = regexp.MustCompile(`TLS is disabled.*address=(127\.0\.0\.1:[0-9]+)`)

// program finds a binary of Debian's package. Without it the test fails: a
// proof that is skipped proves nothing.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is needed (Debian: apt-get install prometheus; .ci/test does it): %v", name, err)
	}
	return path
}

// start runs a Prometheus that scrapes target, a host and port.
func start(t *testing.T, target string) *server {
	t.Helper()
	binary, dir := program(t, "prometheus"), t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, fmt.Appendf(nil, config, target), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0", "--enable-feature=native-histograms")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	var (
		reading sync.WaitGroup
		said    strings.Builder // by the reader until it is done
	)
	reading.Go(func() {
		defer close(found)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			fmt.Fprintln(&said, lines.Text())
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
				break
			}
		}
		_, _ = io.Copy(io.Discard, stderr)
	})
	s := &server{T: t, client: &http.Client{Timeout: patience, Transport: &http.Transport{}}}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		_ = cmd.Process.Kill() // its storage is gone with the test
		reading.Wait()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Prometheus said:\n%s", said.String())
		}
	})
	select {
	case addr := <-found:
		if addr == "" {
			t.Fatal("Prometheus ended before it listened")
		}
		s.url = "http://" + addr
	case <-time.After(patience):
		t.Fatal("Prometheus does not say where it listens")
	}
	return s
}

// sample is one series of an answer.
type sample struct {
	labels map[string]string
	value  float64
}

// query asks for the samples of an expression as of now.
func (s *server) query(expr string) []sample {
	s.Helper()
	resp, err := s.client.Get(s.url + "/api/v1/query?query=" + url.QueryEscape(expr))
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Error != "" {
		if resp.StatusCode == http.StatusServiceUnavailable {
			return nil // it is starting
		}
		s.Fatalf("%s: %v %s", expr, err, answer.Error)
	}
	var samples []sample
	for _, r := range answer.Data.Result {
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			s.Fatalf("%s: %v", expr, err)
		}
		samples = append(samples, sample{r.Metric, v})
	}
	return samples
}

// number is the one value of an expression; ok is false while there is none.
func (s *server) number(expr string) (v float64, ok bool) {
	s.Helper()
	samples := s.query(expr)
	if len(samples) != 1 {
		return 0, false
	}
	return samples[0].value, true
}

// want compares the one value of an expression.
func (s *server) want(expr string, want float64) {
	s.Helper()
	if got, ok := s.number(expr); !ok || got != want {
		s.Errorf("%s is %v (%v), want %v", expr, got, ok, want)
	}
}

// await waits until the one value of an expression is as ok wants it.
func (s *server) await(expr string, ok func(float64) bool) float64 {
	s.Helper()
	deadline := time.After(patience)
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	for {
		v, there := s.number(expr)
		if there && ok(v) {
			return v
		}
		select {
		case <-pace.C:
		case <-deadline:
			s.Fatalf("%s did not come to what it should be; it is %v (%v)", expr, v, there)
		}
	}
}
