package artifact

import (
	"cmp"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"holdfast/messages"
)

// The bounds of a store.
const (
	// MaxEntries is how many artifacts of a task are remembered (W22).
	MaxEntries = 100
	// MaxFile bounds one artifact, in bytes.
	MaxFile = 64 << 20
	// MaxTaskBytes bounds the files of a task.
	MaxTaskBytes = 256 << 20
	// MaxBytes bounds the files of all tasks.
	MaxBytes = 1 << 30
	// MaxTasks is how many tasks have artifacts.
	MaxTasks = 1000
)

// Bounds are what a store holds at most; [DefaultBounds] are those of a node.
type Bounds struct {
	Entries, Tasks         int
	File, TaskBytes, Bytes int64
}

// DefaultBounds returns the bounds of a node.
func DefaultBounds() Bounds {
	return Bounds{Entries: MaxEntries, Tasks: MaxTasks, File: MaxFile, TaskBytes: MaxTaskBytes, Bytes: MaxBytes}
}

// Store keeps the artifacts of a node's tasks in a directory. It is safe for concurrent use.
type Store struct {
	dir    string
	bounds Bounds
	seal   cipher.AEAD // of what is sealed; nil without a key

	mu      sync.Mutex // protects what follows, and the directory
	shelves map[messages.TaskID]*shelf
}

// shelf is what is kept of one task, oldest first.
type shelf struct {
	Task      messages.TaskID     `json:"task_id"`
	Artifacts []messages.Artifact `json:"artifacts"`
}

// New opens the store of a directory, which it makes where there is none. What an earlier
// process has kept there is found again.
func New(dir string, b Bounds) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("artifact: %w", err)
	}
	s := &Store{dir: dir, bounds: b, shelves: map[messages.TaskID]*shelf{}}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("artifact: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.shrink(nil)
}

// place is the directory of a task. Its name says nothing that a file system could not take.
func (s *Store) place(id messages.TaskID) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16]))
}

func (s *Store) file(task messages.TaskID, id messages.ArtifactID) string {
	return filepath.Join(s.place(task), string(id))
}

// Put keeps what r yields as an artifact of the task. Kind, name, type and measures are taken
// from about; the rest is found. The error is an [*messages.Error] with message_too_large for a
// file beyond the bound.
func (s *Store) Put(task messages.TaskID, about messages.Artifact, r io.Reader) (messages.Artifact, error) {
	if err := os.MkdirAll(s.place(task), 0o700); err != nil {
		return messages.Artifact{}, fmt.Errorf("artifact: %w", err)
	}
	about.ArtifactID = messages.ArtifactID("a-" + strings.ToLower(rand.Text()[:16]))
	about.Name, about.Base64, about.State = fileName(about.Name), "", messages.ArtifactLive
	about.CreatedAt = messages.SecondsOf(time.Now())
	path := s.file(task, about.ArtifactID)
	if err := s.write(path, r, &about); err != nil {
		_ = os.Remove(path)
		return messages.Artifact{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.shelves[task]
	if kept == nil {
		kept = &shelf{Task: task}
		s.shelves[task] = kept
	}
	kept.Artifacts = append(kept.Artifacts, about)
	if err := s.shrink(kept); err != nil {
		return messages.Artifact{}, err
	}
	return about, s.save(kept)
}

// write writes the file and notes its size and hash.
func (s *Store) write(path string, r io.Reader, about *messages.Artifact) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("artifact: %w", err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(r, s.bounds.File+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("artifact: %w", err)
	}
	if n > s.bounds.File {
		return messages.Errorf(messages.CodeMessageTooLarge, "an artifact has at most %d bytes", s.bounds.File)
	}
	about.Size, about.SHA256 = n, hex.EncodeToString(sum.Sum(nil))
	return nil
}

// List returns the artifacts of a task, oldest first, each as it is now. It returns nil for a
// task that has had none.
func (s *Store) List(task messages.TaskID) []messages.Artifact {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.shelves[task]
	if kept == nil {
		return nil
	}
	for i := range kept.Artifacts {
		s.check(task, &kept.Artifacts[i])
	}
	return slices.Clone(kept.Artifacts)
}

// check finds out whether the file of a live artifact is there with its size.
func (s *Store) check(task messages.TaskID, a *messages.Artifact) {
	if a.State != messages.ArtifactLive {
		return
	}
	if info, err := os.Lstat(s.file(task, a.ArtifactID)); err != nil || !info.Mode().IsRegular() || info.Size() != a.Size {
		a.State = messages.ArtifactMissing
	}
}

// Open returns the file of an artifact, whose bytes have the hash of its entry; the caller
// closes it. The error is an [*messages.Error] with artifact_not_found, whose details have the
// state where the artifact was there once.
func (s *Store) Open(task messages.TaskID, id messages.ArtifactID) (*os.File, messages.Artifact, error) {
	a, err := s.lookup(task, id)
	if err != nil {
		return nil, a, err
	}
	f, err := os.Open(s.file(task, id))
	if err == nil {
		if err = verify(f, a.SHA256); err == nil {
			return f, a, nil
		}
		_ = f.Close()
	}
	s.miss(task, id)
	return nil, a, gone(messages.ArtifactMissing)
}

func (s *Store) lookup(task messages.TaskID, id messages.ArtifactID) (messages.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.shelves[task]
	at := -1
	if kept != nil {
		at = slices.IndexFunc(kept.Artifacts, func(a messages.Artifact) bool { return a.ArtifactID == id })
	}
	if at < 0 {
		return messages.Artifact{}, messages.Errorf(messages.CodeArtifactNotFound, "the task has no artifact of that id")
	}
	s.check(task, &kept.Artifacts[at])
	a := kept.Artifacts[at]
	if a.State != messages.ArtifactLive {
		return a, gone(a.State)
	}
	return a, nil
}

// miss notes that the file of an artifact is not what it was. One that was evicted meanwhile
// stays so.
func (s *Store) miss(task messages.TaskID, id messages.ArtifactID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.shelves[task]; kept != nil {
		for i := range kept.Artifacts {
			if a := &kept.Artifacts[i]; a.ArtifactID == id && a.State == messages.ArtifactLive {
				a.State = messages.ArtifactMissing
			}
		}
	}
}

func gone(state messages.ArtifactState) error {
	return messages.Errorf(messages.CodeArtifactNotFound, "the artifact's file is %s", state).With("state", string(state))
}

// verify compares a file with a hash and returns to its begin.
func verify(f *os.File, want string) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != want {
		return errors.New("the file has changed")
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// shrink evicts what is beyond the bounds, the oldest first. The shelf that was just put on
// keeps its newest, and is saved by the caller.
func (s *Store) shrink(fresh *shelf) error {
	if fresh != nil {
		if beyond := len(fresh.Artifacts) - s.bounds.Entries; beyond > 0 {
			for i := range beyond {
				s.evict(fresh, i)
			}
			fresh.Artifacts = slices.Delete(fresh.Artifacts, 0, beyond)
		}
		for i := 0; live(fresh) > s.bounds.TaskBytes && i < len(fresh.Artifacts)-1; i++ {
			s.evict(fresh, i)
		}
	}
	for len(s.shelves) > s.bounds.Tasks {
		oldest := s.oldest(func(k *shelf) bool { return k != fresh }, newestOf)
		if oldest == nil {
			break
		}
		delete(s.shelves, oldest.Task)
		if err := os.RemoveAll(s.place(oldest.Task)); err != nil {
			return fmt.Errorf("artifact: %w", err)
		}
	}
	total := int64(0)
	for _, k := range s.shelves {
		total += live(k)
	}
	for total > s.bounds.Bytes {
		from := s.oldest(func(k *shelf) bool { return live(k) > 0 && (k != fresh || firstLive(k) < len(k.Artifacts)-1) }, oldestLiveOf)
		if from == nil {
			break
		}
		at := firstLive(from)
		total -= from.Artifacts[at].Size
		s.evict(from, at)
		if from != fresh {
			if err := s.save(from); err != nil {
				return err
			}
		}
	}
	return nil
}

// oldest is the shelf that is first by its time, among those that fit.
func (s *Store) oldest(fits func(*shelf) bool, when func(*shelf) messages.Seconds) (found *shelf) {
	for _, k := range s.shelves {
		if fits(k) && (found == nil || cmp.Or(cmp.Compare(when(k), when(found)), cmp.Compare(k.Task, found.Task)) < 0) {
			found = k
		}
	}
	return found
}

func newestOf(k *shelf) messages.Seconds {
	if len(k.Artifacts) == 0 {
		return 0
	}
	return k.Artifacts[len(k.Artifacts)-1].CreatedAt
}

func oldestLiveOf(k *shelf) messages.Seconds { return k.Artifacts[firstLive(k)].CreatedAt }

func firstLive(k *shelf) int {
	return slices.IndexFunc(k.Artifacts, func(a messages.Artifact) bool { return a.State == messages.ArtifactLive })
}

func live(k *shelf) (n int64) {
	for _, a := range k.Artifacts {
		if a.State == messages.ArtifactLive {
			n += a.Size
		}
	}
	return n
}

// evict deletes a file and leaves its entry.
func (s *Store) evict(k *shelf, at int) {
	if a := &k.Artifacts[at]; a.State == messages.ArtifactLive {
		a.State = messages.ArtifactEvicted
		_ = os.Remove(s.file(k.Task, a.ArtifactID)) // one that stays is an orphan, which the next start removes
	}
}
