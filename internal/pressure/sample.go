package pressure

import (
	"errors"
	"io"
	"io/fs"
	"path"
)

// Sample is how things stood when it was taken.
type Sample struct {
	Memory Level
	CPU    Level
}

// Level is the use of one resource.
type Level struct {
	// Err is why it could not be read; nothing else is set then.
	Err error
	// Used is a share of 1. Of processors it is the share of the last ten
	// seconds in which some thread waited for one.
	Used float64
	// Bytes and Limit are the memory in use, and how much there may be.
	Bytes, Limit uint64
	// Source says whose limit it is: cgroup2, cgroup or host.
	Source string
}

// The sources of a [Level].
const (
	SourceCgroup2 = "cgroup2"
	SourceCgroup  = "cgroup"
	SourceHost    = "host"
)

// ErrUnreadable says that the system does not tell, or not in a form known.
var ErrUnreadable = errors.New("pressure: not readable on this system")

// Read is [Take] of the files of a Linux machine, from its root directory.
func Read(root fs.FS) Sample {
	groups := parseGroups(load(root, "proc/self/cgroup"))
	return Sample{Memory: memory(root, groups), CPU: cpu(root, groups)}
}

func memory(root fs.FS, groups groups) Level {
	host, err := parseMeminfo(load(root, "proc/meminfo"))
	if err != nil {
		host = Level{Err: err}
	}
	group := version2.memory(root, groups.unified, host.Limit)
	if group.Source == "" {
		group = version1.memory(root, groups.memory, host.Limit)
	}
	if group.Source == "" {
		return host
	}
	return group
}

// version is where a version of control groups keeps what.
type version struct {
	name         string
	mounts       []string
	current, max string
	inactive     string // in memory.stat
}

var (
	version2 = version{
		name: SourceCgroup2, mounts: []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"},
		current: "memory.current", max: "memory.max", inactive: "inactive_file",
	}
	version1 = version{
		name: SourceCgroup, mounts: []string{"sys/fs/cgroup/memory"},
		current: "memory.usage_in_bytes", max: "memory.limit_in_bytes", inactive: "total_inactive_file",
	}
)

// memory is the level of the group, or of one above it, that is closest to its
// limit; without a source where none has one. A limit that is above the host's
// memory is none.
func (v version) memory(root fs.FS, group string, host uint64) Level {
	var worst Level
	for _, mount := range v.mounts {
		for _, dir := range upwards(mount, group) {
			limit, ok := parseBytes(load(root, path.Join(dir, v.max)))
			if !ok || limit == 0 || host > 0 && limit > host {
				continue
			}
			current, ok := parseBytes(load(root, path.Join(dir, v.current)))
			if !ok {
				continue
			}
			// More than is in use can be inactive: they are not read at one moment.
			current -= min(current, parseStat(load(root, path.Join(dir, "memory.stat")), v.inactive))
			if used := float64(current) / float64(limit); worst.Source == "" || used > worst.Used {
				worst = Level{Used: used, Bytes: current, Limit: limit, Source: v.name}
			}
		}
	}
	return worst
}

// cpu is the stall of the nearest group that tells of one, else of the host.
func cpu(root fs.FS, groups groups) Level {
	for _, mount := range version2.mounts {
		for _, dir := range upwards(mount, groups.unified) {
			if used, ok := parseStall(load(root, path.Join(dir, "cpu.pressure"))); ok {
				return Level{Used: used, Source: SourceCgroup2}
			}
		}
	}
	if used, ok := parseStall(load(root, "proc/pressure/cpu")); ok {
		return Level{Used: used, Source: SourceHost}
	}
	return Level{Err: ErrUnreadable}
}

// upwards are the directories from the group up to the mount. Those that are
// not there are looked for all the same: a container may be shown the path of its
// group on the host, and its group as the root.
func upwards(mount, group string) []string {
	if group == "" {
		return nil
	}
	var dirs []string
	for g := path.Clean("/" + group); ; g = path.Dir(g) {
		dirs = append(dirs, path.Join(mount, g))
		if g == "/" || len(dirs) == maxDepth {
			return dirs
		}
	}
}

const (
	maxDepth = 64       // of groups; the kernel's own default is far lower
	maxFile  = 64 << 10 // of a file that is read, in bytes
)

// load returns the file, or its beginning, or nothing.
func load(root fs.FS, name string) []byte {
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil
	}
	return b
}
