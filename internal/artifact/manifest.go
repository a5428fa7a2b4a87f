package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"

	"holdfast/messages"
)

const (
	manifestFile = "manifest.json"
	// maxManifest bounds what is read of a manifest, in bytes.
	maxManifest = 1 << 20
	// orphanAge is how old a file is that no manifest names before it is removed. Another process
	// on the same directory may just write one.
	orphanAge = time.Hour
	maxName   = 200 // bytes of a file's name
)

// idText is how an artifact's id looks. It is the name of a file.
var idText = regexp.MustCompile(`^a-[a-z0-9]{16}$`)

// ParseID reads an artifact's id. The error is an [*messages.Error] with artifact_not_found: an
// id that looks otherwise was never given.
func ParseID(s string) (messages.ArtifactID, error) {
	if !idText.MatchString(s) {
		return "", messages.Errorf(messages.CodeArtifactNotFound, "the task has no artifact of that id")
	}
	return messages.ArtifactID(s), nil
}

// save writes the manifest of a task in one step.
func (s *Store) save(k *shelf) error {
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("artifact: %w", err)
	}
	path := filepath.Join(s.place(k.Task), manifestFile)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return fmt.Errorf("artifact: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("artifact: %w", err)
	}
	return nil
}

// load reads the manifests of all tasks and removes files that none of them names.
func (s *Store) load() error {
	dirs, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		path := filepath.Join(s.dir, d.Name())
		k, err := readShelf(filepath.Join(path, manifestFile))
		if err == nil && s.place(k.Task) == path {
			s.shelves[k.Task] = k
		}
		s.clean(path, k)
	}
	return nil
}

// readShelf reads a manifest strictly: what it names becomes part of a path.
func readShelf(path string) (*shelf, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var k shelf
	if err := json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(&k); err != nil {
		return nil, err
	}
	if _, err := messages.ParseTaskID(string(k.Task)); err != nil {
		return nil, err
	}
	for _, a := range k.Artifacts {
		if !idText.MatchString(string(a.ArtifactID)) || a.Size < 0 {
			return nil, errors.New("a malformed entry")
		}
	}
	return &k, nil
}

// clean removes old files that the manifest does not name as live.
func (s *Store) clean(dir string, k *shelf) {
	isLive := map[string]bool{manifestFile: k != nil}
	if k != nil {
		for _, a := range k.Artifacts {
			isLive[string(a.ArtifactID)] = a.State == messages.ArtifactLive
		}
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || isLive[d.Name()] {
			return nil //nolint:nilerr // what cannot be read is left
		}
		if info, err := d.Info(); err == nil && time.Since(info.ModTime()) > orphanAge {
			_ = os.Remove(path)
		}
		return nil
	})
	_ = os.Remove(dir) // only an empty one goes
}

// fileName is a name of a page's or a caller's as one of a file: its last element, without what
// does not print.
func fileName(s string) string {
	if at := strings.LastIndexAny(s, `/\`); at >= 0 {
		s = s[at+1:]
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if len(s) > maxName {
		s = strings.ToValidUTF8(s[:maxName], "")
	}
	if strings.Trim(s, ". ") == "" {
		return ""
	}
	return s
}
