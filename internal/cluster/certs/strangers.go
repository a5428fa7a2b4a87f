package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// Door returns a configuration for the listening end that reports each stranger: it accepts
// what the given one accepts, and calls refused for a connection that it turns away.
func Door(c *tls.Config, refused func()) *tls.Config {
	door := c.Clone()
	check := c.VerifyConnection
	// The certificate is asked for and not judged by the library, which reports nothing.
	door.ClientAuth = tls.RequestClientCert
	door.VerifyConnection = func(s tls.ConnectionState) error {
		err := verify(s, c.ClientCAs)
		if err == nil && check != nil {
			err = check(s)
		}
		if err != nil {
			refused()
		}
		return err
	}
	return door
}

// verify does what tls.RequireAndVerifyClientCert does.
func verify(s tls.ConnectionState, roots *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the other end has no certificate")
	}
	chain := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		chain.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: chain, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err
}
