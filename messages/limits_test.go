package messages_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/messages"
)

func float(f float64) *float64 { return &f }

func TestLimitsAreChecked(t *testing.T) {
	t.Parallel()
	wrong := map[string]messages.Limits{
		"tasks below zero":          {MaxTasks: -1},
		"tasks without end":         {MaxTasks: messages.MaxMaxTasks + 1},
		"a tenant without end":      {MaxTenantTasks: messages.MaxMaxTasks + 1},
		"browsers without end":      {MaxBrowsers: messages.MaxMaxTasks + 1},
		"a queue without end":       {QueueLength: messages.MaxQueueLength + 1},
		"waiting below zero":        {QueueTimeout: -1},
		"waiting for ever":          {QueueTimeout: messages.MaxQueueTimeout + 1},
		"idle below zero":           {IdleTimeout: -1},
		"life below zero":           {MaxLife: -1},
		"no patience":               {GiveUpAfter: messages.MinGiveUpAfter - 1},
		"patience below zero":       {GiveUpAfter: -time.Hour},
		"patience without end":      {GiveUpAfter: messages.MaxGiveUpAfter + 1},
		"more memory than there is": {MemoryHigh: 1.01},
		"no share":                  {MemoryHigh: math.NaN()},
		"no lower share":            {MemoryLow: math.NaN()},
		"below zero":                {MemoryLow: -0.1},
		"low above high":            {MemoryHigh: 0.5, MemoryLow: 0.5},
		"low above the default":     {MemoryLow: 0.95},
		"of processors":             {CPUHigh: 0.5, CPULow: 0.6},
		"low without high":          {CPULow: 0.6},
	}
	for name, l := range wrong {
		if err := l.Validate(); messages.CodeOf(err) != messages.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, l := range map[string]messages.Limits{
		"nothing said": {}, "all off": {MaxBrowsers: -1, QueueLength: -1, MemoryHigh: -1, MemoryLow: 0.5, CPUHigh: -1},
		"memory whole": {MemoryHigh: 1, MemoryLow: 0.1},
	} {
		if err := l.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	want := messages.Limits{
		MaxTasks: 5000, MaxBrowsers: 5000, QueueLength: 100, QueueTimeout: 30 * time.Second,
		IdleTimeout: time.Hour, MaxLife: 24 * time.Hour, GiveUpAfter: 2 * time.Minute, MemoryHigh: 0.9,
	}
	got := messages.Limits{}.WithDefaults()
	if low := got.MemoryLow; math.Abs(low-0.85) > 1e-9 || got.CPUHigh >= 0 {
		t.Errorf("%+v", got)
	}
	got.MemoryLow, got.CPUHigh, got.CPULow = 0, 0, 0
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for memory, want := range map[uint64]int{0: 5000, 1: 1, 4 << 30: 8, math.MaxUint64: 5000} {
		if got := messages.DefaultMaxBrowsers(memory); got != want {
			t.Errorf("%d browsers in %d bytes, want %d", got, memory, want)
		}
	}
}

// What is valid stays so with its defaults, and has them all.
func TestLimitsWithDefaults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(-1, 1.1))
		l := messages.Limits{
			MaxTasks: rapid.IntRange(0, 10).Draw(t, "tasks"), MaxBrowsers: rapid.IntRange(-1, 10).Draw(t, "browsers"),
			QueueLength: rapid.IntRange(-1, 10).Draw(t, "queue"), QueueTimeout: time.Duration(rapid.IntRange(0, 10).Draw(t, "timeout")),
			MemoryHigh: share.Draw(t, "memory high"), MemoryLow: share.Draw(t, "memory low"),
			CPUHigh: share.Draw(t, "cpu high"), CPULow: share.Draw(t, "cpu low"),
		}
		if l.Validate() != nil {
			return
		}
		d := l.WithDefaults()
		if err := d.Validate(); err != nil || d != d.WithDefaults() || d.MaxTasks == 0 || d.MaxBrowsers <= 0 || d.QueueLength == 0 {
			t.Fatalf("%+v: %v", d, err)
		}
		if d.MemoryHigh > 0 && !(d.MemoryLow >= 0 && d.MemoryLow < d.MemoryHigh) {
			t.Fatalf("%+v", d)
		}
	})
}
