package certs_test

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"holdfast/internal/cluster/certs"
)

func makeFiles(t *testing.T, dir string, nodes ...certs.Node) func(node string) certs.Files {
	t.Helper()
	if _, err := certs.Init(dir, nodes, time.Now()); err != nil {
		t.Fatal(err)
	}
	return func(node string) certs.Files {
		return certs.Files{Cert: filepath.Join(dir, certs.CertFile(node)), Key: filepath.Join(dir, certs.KeyFile(node)), CA: filepath.Join(dir, certs.CAFile)}
	}
}

// handshake connects two configurations over a pipe, and returns what each end says.
func handshake(t *testing.T, server, client *tls.Config, name string) (atServer, atClient error) {
	t.Helper()
	a, b := net.Pipe()
	defer func() { _ = a.Close(); _ = b.Close() }()
	deadline := time.Now().Add(20 * time.Second)
	_ = a.SetDeadline(deadline)
	_ = b.SetDeadline(deadline)
	done := make(chan error, 1)
	go func() {
		s := tls.Server(a, server)
		err := s.Handshake()
		if err == nil {
			_, err = s.Write([]byte("x")) // in TLS 1.3 the client learns here that it was refused
		}
		if err != nil {
			_ = a.Close()
		}
		done <- err
	}()
	client = client.Clone()
	client.ServerName = name
	c := tls.Client(b, client)
	atClient = c.Handshake()
	if atClient == nil {
		_, atClient = c.Read(make([]byte, 1))
	}
	_ = b.Close()
	return <-done, atClient
}

func config(t *testing.T, f certs.Files, allowed ...string) *tls.Config {
	t.Helper()
	c, err := f.Config(allowed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNodesOfOneClusterConnect: by name and by address, and no stranger does (requirement X13).
func TestNodesOfOneClusterConnect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := makeFiles(t, dir, certs.Node{Name: "a", Addresses: []string{"127.0.0.1", "a.example.org"}}, certs.Node{Name: "b"}, certs.Node{Name: "monitor"})
	foreign := makeFiles(t, t.TempDir(), certs.Node{Name: "b"})
	a, b := config(t, files("a"), "a", "b"), config(t, files("b"), "a", "b")
	for _, name := range []string{"a", "a.example.org", "127.0.0.1"} {
		if s, c := handshake(t, a, b, name); s != nil || c != nil {
			t.Errorf("as %s: %v, %v", name, s, c)
		}
	}
	strangers := 0
	plain := a
	a = certs.Door(a, func() { strangers++ })
	if s, c := handshake(t, a, b, "a"); s != nil || c != nil || strangers != 0 {
		t.Errorf("at the door: %v, %v", s, c)
	}
	defer func() {
		if strangers != 3 {
			t.Errorf("%d strangers were counted, not 3", strangers)
		}
	}()
	if s, c := handshake(t, plain, b, "elsewhere.example.org"); s == nil && c == nil {
		t.Error("a node was taken for another host")
	}
	if s, _ := handshake(t, a, config(t, foreign("b")), "a"); s == nil {
		t.Error("a certificate of another cluster's CA was accepted")
	}
	impostor := config(t, foreign("b"))
	impostor.RootCAs = b.RootCAs
	impostor.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &impostor.Certificates[0], nil }
	if s, _ := handshake(t, a, impostor, "a"); s == nil {
		t.Error("a certificate of another CA was accepted from a client that takes ours")
	}
	if s, _ := handshake(t, a, config(t, files("monitor")), "a"); s == nil {
		t.Error("a certificate of the CA whose name may not connect was accepted")
	}
	if s, _ := handshake(t, a, &tls.Config{RootCAs: b.RootCAs}, "a"); s == nil { //nolint:gosec // a client without a certificate
		t.Error("a client without a certificate was accepted")
	}
}

// TestInitWritesOverNothing: it can be run again for more nodes.
func TestInitWritesOverNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pki")
	first, err := certs.Init(dir, []certs.Node{{Name: "a"}}, time.Now())
	if err != nil || len(first) != 5 {
		t.Fatalf("%v, %v", first, err)
	}
	before, err := os.ReadFile(filepath.Join(dir, certs.CertFile("a")))
	if err != nil {
		t.Fatal(err)
	}
	second, err := certs.Init(dir, []certs.Node{{Name: "a"}, {Name: "b"}}, time.Now())
	if err != nil || len(second) != 2 {
		t.Fatalf("%v, %v", second, err)
	}
	after, err := os.ReadFile(filepath.Join(dir, certs.CertFile("a")))
	if err != nil || string(before) != string(after) {
		t.Errorf("the first certificate has changed: %v", err)
	}
	for _, name := range []string{certs.CAKeyFile, certs.KeyFile("a"), certs.KeyFile("b")} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", name, info.Mode())
		}
	}
}

func TestInitRefusesNames(t *testing.T) {
	t.Parallel()
	for _, n := range []certs.Node{{Name: ""}, {Name: "ca"}, {Name: "../a"}, {Name: "a", Addresses: []string{""}}} {
		dir := t.TempDir()
		if written, err := certs.Init(dir, []certs.Node{n}, time.Now()); err == nil || len(written) != 0 {
			t.Errorf("%+v: %v, %v", n, written, err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, certs.CAFile), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := certs.Init(dir, nil, time.Now()); err == nil {
		t.Error("a CA without a key was taken")
	}
}
