// Package seal encrypts what the store of a cluster holds of tasks: a CDP URL is a key to a
// browser. All nodes of a cluster share one key.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// keySize is that of AES-256.
const keySize = 32

// mark begins what is sealed, and says how.
const mark = 1

// Sealer seals and opens. It is safe for concurrent use.
type Sealer struct{ aead cipher.AEAD }

// NewKey makes a key, as the text of its file.
func NewKey() string {
	var key [keySize]byte
	_, _ = rand.Read(key[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(key[:]) + "\n"
}

// Load reads the key of a file.
func Load(path string) (*Sealer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1<<10))
	if err != nil {
		return nil, err
	}
	s, err := New(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// New returns the Sealer of a key.
func New(text string) (*Sealer, error) {
	key, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("the key is not %d bytes in base64url", keySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Sealer{aead}, nil
}

// Seal encrypts plain. What is sealed opens under the same name alone.
func (s *Sealer) Seal(name string, plain []byte) []byte {
	return s.aead.Seal([]byte{mark}, nil, plain, []byte(name))
}

// ErrNotOpened says that something was not sealed under this name with this key.
var ErrNotOpened = errors.New("it was not sealed with this key: all nodes of a cluster have the same cluster.seal_key_file")

// Open decrypts what Seal has returned.
func (s *Sealer) Open(name string, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != mark {
		return nil, ErrNotOpened
	}
	plain, err := s.aead.Open(nil, nil, sealed[1:], []byte(name))
	if err != nil {
		return nil, ErrNotOpened
	}
	return plain, nil
}
