package transport_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdfast/transport"
)

// of are the durations of one kind of command.
func of(c *transport.CommandTimes, domain string, failed bool) (found transport.Durations) {
	c.Each(func(d transport.Durations) {
		if d.Domain == domain && d.HasFailed == failed {
			found = d
		}
	})
	return found
}

// TestDurationsAreInTheirBuckets as the definition of a native histogram has it:
// bucket i of schema 3 ends at 2^(i/8) seconds.
func TestDurationsAreInTheirBuckets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var (
			c      transport.CommandTimes
			sum    time.Duration
			zero   uint64
			native = map[int]uint64{}
			within = make([]uint64, len(transport.CommandBounds))
		)
		for range rapid.IntRange(0, 200).Draw(t, "n") {
			bucket := rapid.IntRange(-14*8-16, 9*8+16).Draw(t, "bucket")
			// Not at its very end: that is rounded to a nanosecond.
			seconds := math.Exp2((float64(bucket) - rapid.Float64Range(.01, .99).Draw(t, "from its end")) / 8)
			d := time.Duration(seconds * 1e9)
			c.Add("Page.navigate", d, nil)
			sum += d
			if bucket <= -14*8 {
				zero++
			} else {
				native[min(bucket, 9*8)]++
			}
			for i, bound := range transport.CommandBounds {
				if d.Seconds() <= bound {
					within[i]++
				}
			}
		}
		want := transport.Durations{Domain: "Page", Sum: sum, Within: within, Zero: zero, Native: native}
		want.Count = zero
		for _, n := range native {
			want.Count += n
		}
		if diff := cmp.Diff(want, of(&c, "Page", false)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestABoundIsWithinItself(t *testing.T) {
	t.Parallel()
	for i, bound := range transport.CommandBounds {
		var c transport.CommandTimes
		end := time.Duration(bound * 1e9)
		c.Add("Page.navigate", end, nil)
		c.Add("Page.navigate", end+1, nil)
		if n := of(&c, "Page", false).Within[i]; n != 1 {
			t.Errorf("%d of %v and a nanosecond more are within %v", n, end, end)
		}
	}
}

func TestCommandsAreToldApart(t *testing.T) {
	t.Parallel()
	var c transport.CommandTimes
	for _, method := range []string{"Page.navigate", "Runtime.evaluate", "Input.dispatchKeyEvent", "Network.enable", "Page", "", ".", "Pages.x", "a text nobody knows"} {
		c.Add(method, time.Second, nil)
	}
	c.Add("Page.navigate", time.Minute, errors.New("no"))
	for domain, want := range map[string]uint64{"Page": 2, "Runtime": 1, "Input": 1, "other": 5} {
		if got := of(&c, domain, false).Count; got != want {
			t.Errorf("%s: %d, want %d", domain, got, want)
		}
	}
	if got := of(&c, "Page", true); got.Count != 1 || got.Sum != time.Minute {
		t.Errorf("failed: %d, %v", got.Count, got.Sum)
	}
}

func TestEveryCallIsCountedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stats transport.Stats
		m := newBrowser(t, (*peer).echo).dial(t, transport.DialOptions{Stats: &stats})
		for range 3 {
			if _, err := m.Do(t.Context(), "", "Page.enable", nil); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := m.Do(ctx, "", "Silent.method", nil)
			done <- err
		}()
		cancel()
		<-done
		if _, err := m.Do(t.Context(), "", "", nil); !errors.Is(err, transport.ErrInvalidCall) {
			t.Error(err)
		}
		m.Close()
		<-m.Closed()
		if n := of(&stats.Commands, "Page", false); n.Count != 3 {
			t.Errorf("%d commands, want 3", n.Count)
		}
		if n := stats.InFlight(); n != 0 {
			t.Errorf("%d in flight after the link's end", n)
		}
	})
}

func TestCountingACommandCostsNoAllocation(t *testing.T) {
	var c transport.CommandTimes
	if n := testing.AllocsPerRun(100, func() { c.Add("Network.getCookies", 3*time.Millisecond, nil) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCountCommand(b *testing.B) {
	var c transport.CommandTimes
	b.ReportAllocs()
	for b.Loop() {
		c.Add("Network.getCookies", 3*time.Millisecond, nil)
	}
}
