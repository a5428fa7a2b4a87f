// Package certs makes the certificates with which the nodes of a cluster know each other:
// one CA, and one certificate a node for both ends of a connection.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/seal"
)

// Names of the files in the directory that Init fills. The key of the CA is for making
// more nodes; no node reads it.
const (
	CAFile    = "ca.crt"
	CAKeyFile = "ca.key"
	// SealKeyFile has the key that all nodes seal tasks with.
	SealKeyFile = "seal.key"
)

// CertFile names the certificate of a node in that directory.
func CertFile(node string) string { return node + ".crt" }

// KeyFile names the key of a node in that directory.
func KeyFile(node string) string { return node + ".key" }

const (
	validCA   = 10 * 365 * 24 * time.Hour
	validNode = 2 * 365 * 24 * time.Hour
)

// Init makes a CA in a directory, if there is none, and a certificate for each node that
// has none. A node is a name, or a name and the addresses at which it is dialled:
// holdfast-0=10.0.0.7,node.example.org. It returns the files that it has written, and
// writes over none.
func Init(dir string, nodes []Node, now time.Time) ([]string, error) {
	for _, n := range nodes {
		if err := n.Validate(); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ca, key, written, err := openCA(dir, now)
	if err != nil {
		return written, err
	}
	if sealKey := filepath.Join(dir, SealKeyFile); !isThere(sealKey) {
		if err := os.WriteFile(sealKey, []byte(seal.NewKey()), 0o600); err != nil {
			return written, err
		}
		written = append(written, sealKey)
	}
	for _, n := range nodes {
		if isThere(filepath.Join(dir, CertFile(n.Name))) && isThere(filepath.Join(dir, KeyFile(n.Name))) {
			continue
		}
		files, err := makeNode(dir, n, ca, key, now)
		written = append(written, files...)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Node is what a certificate is made for.
type Node struct {
	Name string
	// Addresses are host names and IP addresses beside the name.
	Addresses []string
}

// Validate returns an error for a node that no certificate is made for.
func (n Node) Validate() error {
	if err := lease.ValidName(n.Name); err != nil {
		return err
	}
	if n.Name == "ca" {
		return errors.New(`no node is called "ca": that is the name of the CA's files`)
	}
	for _, a := range n.Addresses {
		if a == "" || len(a) > 253 {
			return fmt.Errorf("node %s: %q is no address", n.Name, a)
		}
	}
	return nil
}

func openCA(dir string, now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, []string, error) {
	certPath, keyPath := filepath.Join(dir, CAFile), filepath.Join(dir, CAKeyFile)
	if isThere(certPath) || isThere(keyPath) {
		pair, err := tls.LoadX509KeyPair(certPath, keyPath)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("the CA in %s: %w", dir, err)
		}
		key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
		if !ok || !pair.Leaf.IsCA {
			return nil, nil, nil, fmt.Errorf("%s was not made here: it is no CA with an ECDSA key", certPath)
		}
		return pair.Leaf, key, nil, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "Holdfast cluster CA"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validCA),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		IsCA:     true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	written, err := write(template, template, key, key, certPath, keyPath)
	if err != nil {
		return nil, nil, written, err
	}
	pair, err := tls.LoadX509KeyPair(certPath, keyPath)
	if err != nil {
		return nil, nil, written, err
	}
	return pair.Leaf, key, written, nil
}

func makeNode(dir string, n Node, ca *x509.Certificate, caKey *ecdsa.PrivateKey, now time.Time) ([]string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: n.Name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validNode),
		KeyUsage: x509.KeyUsageDigitalSignature,
		// Every node dials and is dialled.
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{n.Name},
	}
	for _, a := range n.Addresses {
		if ip := net.ParseIP(a); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, a)
		}
	}
	return write(template, ca, key, caKey, filepath.Join(dir, CertFile(n.Name)), filepath.Join(dir, KeyFile(n.Name)))
}

// write signs a certificate, and writes it and its key into new files. The key comes
// first: a certificate without its key would be taken for a whole pair.
func write(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey, certPath, keyPath string) ([]string, error) {
	var err error
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, err
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := writeNew(keyPath, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600); err != nil {
		return nil, err
	}
	if err := writeNew(certPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o644); err != nil {
		return []string{keyPath}, err
	}
	return []string{keyPath, certPath}, nil
}

func writeNew(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
