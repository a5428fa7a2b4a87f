package lease

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"holdfast/internal/cluster/placement"
)

// Bounds of the records. What the store holds was written by other nodes, perhaps of
// another version: each record is checked before it counts.
const (
	maxName   = 64
	maxTaskID = 128
	maxPlace  = 128
	maxInfo   = 4 << 10
	maxRecord = 16 << 10
)

// NodeRecord is what a node says of itself, under nodes/<name>.
type NodeRecord struct {
	// Instance names one run of one process; a node that starts again has another.
	Instance string `json:"instance"`
	// IsDraining says that the node takes no tasks.
	IsDraining bool `json:"draining,omitempty"`
	// IsCordoned says that the node takes no tasks, and keeps those it has.
	IsCordoned bool `json:"cordoned,omitempty"`
	// Info is for other packages: addresses, version, labels. The machine does not read it.
	Info json.RawMessage `json:"info,omitempty"`
}

// SpecRecord is the part of tasks/<id>/spec that placement needs.
type SpecRecord struct {
	// Place is the key that ranks the nodes: tasks of one browser have the same.
	Place string `json:"place"`
	// IsBound says that the node that starts the task launches its browser.
	IsBound bool `json:"bound,omitempty"`
	// Sealed is the task's spec. The machine does not read it.
	Sealed []byte `json:"sealed,omitempty"`
}

// Ownership is tasks/<id>/own: which node supervises a task, in which term of it.
type Ownership struct {
	Node string `json:"node"`
	Term int64  `json:"term"`
	Era  uint32 `json:"era"`
	// Changes counts the changes of the owner since the record was created.
	Changes uint64 `json:"changes"`
	// IsBound says that the task's browser was launched by its node, and ends with it.
	IsBound bool `json:"bound,omitempty"`
	// IsLost says that the browser ended with its node; the task is kept to say so.
	IsLost bool `json:"lost,omitempty"`
}

// ClusterRecord is the key cluster: what all nodes have to agree on.
type ClusterRecord struct {
	Format int    `json:"format"`
	Era    uint32 `json:"era"`
	Times  Times  `json:"times"`
}

// format is the version of these records. A node does not join a cluster of another one.
const format = 1

// Keys of the store, below the cluster's prefix.
const (
	clusterKey = "cluster"
	nodePrefix = "nodes/"
	taskPrefix = "tasks/"
)

func nodeKey(name string) string { return nodePrefix + name }
func specKey(task string) string { return taskPrefix + task + "/spec" }
func ownKey(task string) string  { return taskPrefix + task + "/own" }

// SpecKey, MemoryKey are where a task's spec and its memory are kept.
func SpecKey(task string) string { return specKey(task) }

// MemoryKey is described at [SpecKey]. The machine does not read it.
func MemoryKey(task string) string { return taskPrefix + task + "/mem" }

// kind says what a key is of.
type kind uint8

const (
	kindOther kind = iota // of another package, or unknown: never an error
	kindCluster
	kindNode
	kindSpec
	kindOwn
)

// parseKey tells what a key is of: the name of a node or the id of a task.
func parseKey(key string) (kind, string) {
	if key == clusterKey {
		return kindCluster, ""
	}
	if name, ok := strings.CutPrefix(key, nodePrefix); ok {
		if ValidName(name) != nil {
			return kindOther, ""
		}
		return kindNode, name
	}
	rest, ok := strings.CutPrefix(key, taskPrefix)
	if !ok {
		return kindOther, ""
	}
	task, part, ok := strings.Cut(rest, "/")
	if !ok || !isText(task, maxTaskID) {
		return kindOther, ""
	}
	switch part {
	case "spec":
		return kindSpec, task
	case "own":
		return kindOwn, task
	}
	return kindOther, ""
}

// ValidName returns an error for a name that a node cannot have: 1 to 64 of lower-case
// letters, digits, dots and hyphens, as in a host's name.
func ValidName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("a node's name has 1 to %d characters", maxName)
	}
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return fmt.Errorf("a node's name has lower-case letters, digits, dots and hyphens; %q has %q", name, c)
		}
	}
	return nil
}

// isText says whether s is 1 to limit printable ASCII characters without a slash.
func isText(s string, limit int) bool {
	if s == "" || len(s) > limit {
		return false
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' || c == '/' {
			return false
		}
	}
	return true
}

func decodeNode(b []byte) (NodeRecord, error) {
	var r NodeRecord
	if err := decode(b, &r); err != nil {
		return r, err
	}
	if !isText(r.Instance, maxName) {
		return r, errors.New("the instance is no text of the right length")
	}
	if len(r.Info) > maxInfo {
		return r, fmt.Errorf("info has %d bytes, at most %d are allowed", len(r.Info), maxInfo)
	}
	return r, nil
}

func decodeSpec(b []byte) (SpecRecord, error) {
	var r SpecRecord
	// The sealed part has a bound of its own, that of a task's body.
	if err := json.Unmarshal(b, &r); err != nil {
		return r, err
	}
	if !isText(r.Place, maxPlace) {
		return r, errors.New("the place is no text of the right length")
	}
	return r, nil
}

func decodeOwn(b []byte) (Ownership, error) {
	var r Ownership
	if err := decode(b, &r); err != nil {
		return r, err
	}
	if err := ValidName(r.Node); err != nil {
		return r, err
	}
	if r.Term <= 0 || r.Era > maxEra || r.Changes >= 1<<counterBits {
		return r, errors.New("a term, era or count is out of range")
	}
	return r, nil
}

func decodeCluster(b []byte) (ClusterRecord, error) {
	var r ClusterRecord
	if err := decode(b, &r); err != nil {
		return r, err
	}
	if r.Era > maxEra {
		return r, fmt.Errorf("the era %d is out of range", r.Era)
	}
	return r, nil
}

func decode(b []byte, into any) error {
	if len(b) > maxRecord {
		return fmt.Errorf("the record has %d bytes, at most %d are allowed", len(b), maxRecord)
	}
	return json.Unmarshal(b, into)
}

// encode marshals one of the records above, which have no value that cannot be.
func encode(r any) []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return b
}

// candidates are the nodes that may be given a task, for the placement.
func candidates(nodes map[string]*node) []string {
	var names []string
	for name, n := range nodes {
		if !n.record.IsDraining && !n.record.IsCordoned {
			names = append(names, name)
		}
	}
	return placement.Sorted(names)
}
