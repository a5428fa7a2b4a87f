package artifact

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"holdfast/messages"
)

// keySize is that of AES-256.
const keySize = 32

// sealMark begins what is sealed, and says how.
const sealMark = "holdfast-sealed-1\n"

// UseKey has the store seal with the key of a file, which is made where there is none. It has to
// be called before the store is used. Without it nothing can be sealed.
func (s *Store) UseKey(path string) error {
	key, err := loadKey(path)
	if err != nil {
		return fmt.Errorf("artifact: the key of exported states: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return fmt.Errorf("artifact: the key of exported states: %w", err)
	}
	s.seal, err = cipher.NewGCM(block)
	return err
}

func loadKey(path string) ([]byte, error) {
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key = make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	// Written aside and linked: of two nodes that begin at once one makes the key, and no other
	// process reads half of it.
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(key)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return readKey(path)
}

func readKey(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	key, err := io.ReadAll(io.LimitReader(f, keySize+1))
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("%s does not hold %d bytes", path, keySize)
	}
	return key, err
}

var errNoKey = messages.Errorf(messages.CodeForbidden, "this node has no key to encrypt with")

// PutSealed is [Store.Put] for what is not to be read on disk: it is encrypted with the store's key,
// and can be opened as this task's alone. Size and hash are those of the encrypted bytes.
func (s *Store) PutSealed(task messages.TaskID, about messages.Artifact, plain []byte) (messages.Artifact, error) {
	if s.seal == nil {
		return messages.Artifact{}, errNoKey
	}
	nonce := make([]byte, s.seal.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	sealed := append([]byte(sealMark), nonce...)
	sealed = s.seal.Seal(sealed, nonce, plain, []byte(task))
	return s.Put(task, about, bytes.NewReader(sealed))
}

// OpenSealed returns what [Store.PutSealed] has kept. The error is an [*messages.Error]: of
// [Store.Open], or invalid_argument for what is not sealed, or not with this key.
func (s *Store) OpenSealed(task messages.TaskID, id messages.ArtifactID) ([]byte, error) {
	if s.seal == nil {
		return nil, errNoKey
	}
	f, about, err := s.Open(task, id)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("artifact: %w", err)
	}
	rest, isSealed := bytes.CutPrefix(raw, []byte(sealMark))
	if !isSealed || len(rest) < s.seal.NonceSize() {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "artifact %s is no exported state", about.ArtifactID)
	}
	nonce, sealed := rest[:s.seal.NonceSize()], rest[s.seal.NonceSize():]
	plain, err := s.seal.Open(nil, nonce, sealed, []byte(task))
	if err != nil {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "artifact %s was encrypted with another key", about.ArtifactID)
	}
	return plain, nil
}
