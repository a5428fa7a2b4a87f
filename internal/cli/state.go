package cli

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"holdfast/client"
	"holdfast/internal/statedir"
	"holdfast/internal/token"
	"holdfast/messages"
)

// stateDir is where serve leaves what its clients need, and what must outlive
// it.
func (p *Program) stateDir() (string, error) {
	dir, err := statedir.Default(p.Getenv)
	if err != nil {
		return "", &usageError{err: err}
	}
	return dir, nil
}

// endpoint is what serve tells its clients.
type endpoint struct {
	URL       string `json:"url"`
	TokenFile string `json:"token_file"`
	PID       int    `json:"pid"`
	// Nonce tells one run of serve from another.
	Nonce string `json:"nonce"`
}

const (
	endpointName = "endpoint.json"
	ownPrefix    = "endpoint-"
	tokenName    = "token"
	maxEndpoint  = 16 << 10
)

// publish writes the endpoint file and returns what takes it back. Several nodes may
// share a state directory: each also has a file of its own there, and the newest that
// lives is what clients find. One that ends leaves that to the newest of the others.
func publish(dir, url, tokenFile string) (withdraw func() error, err error) {
	e := endpoint{URL: url, TokenFile: tokenFile, PID: os.Getpid(), Nonce: rand.Text()}
	content, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	own, shared := filepath.Join(dir, ownPrefix+e.Nonce+".json"), filepath.Join(dir, endpointName)
	if err := errors.Join(replaceFile(own, content), replaceFile(shared, content)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(own))
	}
	return func() error {
		err := os.RemoveAll(own)
		now, readErr := os.ReadFile(shared)
		switch {
		case errors.Is(readErr, fs.ErrNotExist), readErr == nil && !bytes.Equal(bytes.TrimSpace(now), content):
			return err // another node's
		case readErr != nil:
			return errors.Join(err, readErr)
		}
		if next := newestLiving(dir); next != nil {
			return errors.Join(err, replaceFile(shared, next))
		}
		return errors.Join(err, os.Remove(shared))
	}, nil
}

// replaceFile writes a file that is there whole or as it was before.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".endpoint-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(bytes.Clone(content), '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// newestLiving is what the node has written that began last of those whose process
// lives, nil where none does. Files of the others are removed.
func newestLiving(dir string) []byte {
	files, _ := filepath.Glob(filepath.Join(dir, ownPrefix+"*.json")) // the pattern is fine
	var newest []byte
	var since time.Time
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil || info.Size() > maxEndpoint {
			continue
		}
		content, err := os.ReadFile(path)
		var e endpoint
		if err != nil || json.Unmarshal(content, &e) != nil {
			continue
		}
		if !isRunning(e.PID) {
			_ = os.Remove(path) // what is left of one that was killed
			continue
		}
		if newest == nil || info.ModTime().After(since) {
			newest, since = bytes.TrimSpace(content), info.ModTime()
		}
	}
	return newest
}

// readEndpoint returns what serve left; the error of a missing file is
// fs.ErrNotExist.
func readEndpoint(dir string) (endpoint, error) {
	var e endpoint
	path := filepath.Join(dir, endpointName)
	info, err := os.Stat(path)
	if err != nil {
		return e, err
	}
	if info.Size() > maxEndpoint {
		return e, fmt.Errorf("%s is too large", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(b, &e); err != nil || e.URL == "" {
		return e, fmt.Errorf("%s is damaged: remove it", path)
	}
	return e, nil
}

// find returns the node's URL and a token for it: from flags, from the
// environment, from the state directory, in this order.
//
// A token that serve wrote goes only to the node that wrote it: a caller that names another
// node by flag or environment names its token too.
func (r *run) find() (node, tok string, err error) {
	dir, dirErr := r.stateDir()
	var local endpoint
	if dirErr == nil {
		local, dirErr = readEndpoint(dir)
	}
	node = withScheme(firstOf(r.Node, r.Getenv("HOLDFAST_NODE")))
	if node == "" {
		if dirErr != nil {
			reason := dirErr
			if errors.Is(dirErr, fs.ErrNotExist) {
				reason = errors.New("none runs on this machine: start one with holdfast serve, or name one with --node")
			}
			return "", "", &client.Unreachable{Err: reason}
		}
		node = local.URL
	}
	switch {
	case r.TokenFile != "":
		if tok, err = token.LoadAny(r.TokenFile); err != nil {
			err = &usageError{err: err}
		}
	case r.Getenv("HOLDFAST_TOKEN") != "":
		tok = r.Getenv("HOLDFAST_TOKEN")
	case local.URL == strings.TrimRight(node, "/") && local.TokenFile != "":
		if tok, err = token.LoadAny(local.TokenFile); err != nil {
			err = messages.Errorf(messages.CodeUnauthorized, "%v", err)
		}
	}
	return node, tok, err
}

// withScheme makes an URL of HOST:PORT.
func withScheme(node string) string {
	if _, port, err := net.SplitHostPort(node); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			return "http://" + node
		}
	}
	return node
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
