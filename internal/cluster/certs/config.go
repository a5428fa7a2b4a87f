package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Files are the paths of a node's certificate, its key and the cluster's CA.
type Files struct{ Cert, Key, CA string }

// Config returns a configuration of TLS for both ends, which accepts certificates of the
// CA alone. Where allowed has names, one of them has to be in the other's certificate: a
// CA that signs for others too lets in more than the cluster's nodes.
func (f Files) Config(allowed []string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("the node's certificate: %w", err)
	}
	authority, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, fmt.Errorf("the cluster's CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("the cluster's CA: %s has no certificate", f.CA)
	}
	c := &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{pair}, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
	if len(allowed) > 0 {
		c.VerifyConnection = func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errors.New("the other end has no certificate")
			}
			leaf := s.PeerCertificates[0]
			if slices.ContainsFunc(allowed, func(name string) bool { return slices.Contains(leaf.DNSNames, name) }) {
				return nil
			}
			return fmt.Errorf("the certificate of %q is not of a node that may connect", leaf.Subject.CommonName)
		}
	}
	return c, nil
}
