package pressure_test

import (
	"fmt"
	"math"
	"testing"
	"testing/fstest"

	"holdfast/internal/pressure"
)

const meminfo = "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    4000000 kB\nSwapTotal:             0 kB\n"

const gib = 1 << 30

// root is a machine's files.
func root(files map[string]string) fstest.MapFS {
	fs := fstest.MapFS{}
	for name, text := range files {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fs
}

func TestMemory(t *testing.T) {
	t.Parallel()
	const group = "sys/fs/cgroup/system.slice/holdfast.service/"
	cases := map[string]struct {
		files map[string]string
		want  pressure.Level
	}{
		"the host, where there is no group": {
			map[string]string{"proc/meminfo": meminfo},
			pressure.Level{Used: 0.75, Bytes: 12000000 << 10, Limit: 16000000 << 10, Source: "host"},
		},
		"the host, where no group has a limit": {
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "0::/system.slice/holdfast.service\n",
				group + "memory.max": "max\n", group + "memory.current": "1073741824\n",
			},
			pressure.Level{Used: 0.75, Bytes: 12000000 << 10, Limit: 16000000 << 10, Source: "host"},
		},
		"the group, without the file pages nobody touches": {
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "0::/system.slice/holdfast.service\n",
				group + "memory.max": "4294967296\n", group + "memory.current": "3221225472\n",
				group + "memory.stat": "anon 1\nfile 2\ninactive_file 1073741824\nactive_file 5\n",
			},
			pressure.Level{Used: 0.5, Bytes: 2 * gib, Limit: 4 * gib, Source: "cgroup2"},
		},
		"of several levels the one that is closest to its limit": {
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "0::/system.slice/holdfast.service\n",
				group + "memory.max": "4294967296\n", group + "memory.current": "1073741824\n",
				"sys/fs/cgroup/system.slice/memory.max": "8589934592\n", "sys/fs/cgroup/system.slice/memory.current": "7516192768\n",
			},
			pressure.Level{Used: 0.875, Bytes: 7 * gib, Limit: 8 * gib, Source: "cgroup2"},
		},
		"a container that is shown its path on the host and its group as the root": {
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "0::/kubepods/pod1/abc\n",
				"sys/fs/cgroup/memory.max": "2147483648\n", "sys/fs/cgroup/memory.current": "1073741824\n",
			},
			pressure.Level{Used: 0.5, Bytes: gib, Limit: 2 * gib, Source: "cgroup2"},
		},
		"a container with a namespace of its own": {
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
				"sys/fs/cgroup/memory.max": "2147483648\n", "sys/fs/cgroup/memory.current": "1073741824\n",
			},
			pressure.Level{Used: 0.5, Bytes: gib, Limit: 2 * gib, Source: "cgroup2"},
		},
		"more inactive than in use, for the two are not read at one moment": {
			map[string]string{
				"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "2147483648\n", "sys/fs/cgroup/memory.current": "1024\n",
				"sys/fs/cgroup/memory.stat": "inactive_file 4096\n",
			},
			pressure.Level{Limit: 2 * gib, Source: "cgroup2"},
		},
		"a limit above the host's memory is none": {
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/docker/abc\n0::/\n",
				"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "9223372036854771712\n",
				"sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes": "1073741824\n",
			},
			pressure.Level{Used: 0.75, Bytes: 12000000 << 10, Limit: 16000000 << 10, Source: "host"},
		},
		"the first version of groups": {
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "9:name=systemd:/\n4:cpuset,memory:/docker/abc\n0::/\n",
				"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "4294967296\n",
				"sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes": "3221225472\n",
				"sys/fs/cgroup/memory/docker/abc/memory.stat":           "inactive_file 5\ntotal_inactive_file 1073741824\n",
			},
			pressure.Level{Used: 0.5, Bytes: 2 * gib, Limit: 4 * gib, Source: "cgroup"},
		},
		"a host that has nothing left": {
			map[string]string{"proc/meminfo": "MemTotal: 16 kB\nMemAvailable: 0 kB\n"},
			pressure.Level{Used: 1, Bytes: 16 << 10, Limit: 16 << 10, Source: "host"},
		},
		"nothing at all":       {nil, pressure.Level{Err: pressure.ErrUnreadable}},
		"an old kernel's host": {map[string]string{"proc/meminfo": "MemTotal: 16000000 kB\nMemFree: 1 kB\n"}, pressure.Level{Err: pressure.ErrUnreadable}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := pressure.Read(root(c.files)).Memory; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestCPU(t *testing.T) {
	t.Parallel()
	stall := func(avg string) string {
		return "some avg10=" + avg + " avg60=1.00 avg300=1.00 total=12345\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
	}
	cases := map[string]struct {
		files map[string]string
		want  pressure.Level
	}{
		"the group's": {
			map[string]string{
				"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.pressure": stall("50.00"), "proc/pressure/cpu": stall("1.00"),
			},
			pressure.Level{Used: 0.5, Source: "cgroup2"},
		},
		"the host's":      {map[string]string{"proc/pressure/cpu": stall("100.00")}, pressure.Level{Used: 1, Source: "host"}},
		"no such kernel":  {nil, pressure.Level{Err: pressure.ErrUnreadable}},
		"not a percent":   {map[string]string{"proc/pressure/cpu": stall("100.01")}, pressure.Level{Err: pressure.ErrUnreadable}},
		"not a number":    {map[string]string{"proc/pressure/cpu": stall("NaN")}, pressure.Level{Err: pressure.ErrUnreadable}},
		"another format":  {map[string]string{"proc/pressure/cpu": "some total=1\n"}, pressure.Level{Err: pressure.ErrUnreadable}},
		"nothing of some": {map[string]string{"proc/pressure/cpu": "full avg10=1.00\n"}, pressure.Level{Err: pressure.ErrUnreadable}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := pressure.Read(root(c.files)).CPU; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// The machine the tests run on is one that Holdfast is made for.
func TestThisMachine(t *testing.T) {
	t.Parallel()
	if m := pressure.Take().Memory; m.Err != nil || m.Limit == 0 || !(m.Used > 0 && m.Used <= 1) {
		t.Errorf("%+v", m)
	}
}

func BenchmarkTake(b *testing.B) {
	for b.Loop() {
		pressure.Take()
	}
}

// Whatever the files hold, what comes out is a share, or an error.
func FuzzRead(f *testing.F) {
	f.Add(meminfo, "0::/a/../b\n4:memory:/c\n", "100", "50", "inactive_file 10\n", "some avg10=1.00 \n")
	f.Add("", "0::/", "max", "18446744073709551615", "inactive_file -1", "")
	f.Fuzz(func(t *testing.T, meminfo, groups, limit, current, stat, stall string) {
		files := map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": groups, "proc/pressure/cpu": stall}
		for _, v := range [][4]string{
			{"sys/fs/cgroup/", "memory.max", "memory.current", "memory.stat"},
			{"sys/fs/cgroup/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"},
		} {
			files[v[0]+v[1]], files[v[0]+v[2]], files[v[0]+v[3]] = limit, current, stat
		}
		s := pressure.Read(root(files))
		for _, l := range []pressure.Level{s.Memory, s.CPU} {
			if math.IsNaN(l.Used) || l.Used < 0 || (l.Err == nil) == (l.Source == "") || l.Err != nil && fmt.Sprint(l) != fmt.Sprint(pressure.Level{Err: l.Err}) {
				t.Errorf("%+v", l)
			}
		}
	})
}
