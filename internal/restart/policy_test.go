package restart_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/internal/restart"
)

func TestBackoffDelay(t *testing.T) {
	t.Parallel()
	b := restart.Backoff{Base: 100 * time.Millisecond, Cap: 5 * time.Second}
	for _, tc := range []struct {
		name    string
		b       restart.Backoff
		attempt int
		roll    float64
		want    time.Duration
	}{
		{"the first attempt is made at once", b, 1, 1, 0},
		{"an attempt before the first too", b, 0, 1, 0},
		{"the second waits for the base at most", b, 2, 1, 100 * time.Millisecond},
		{"the lower half is certain", b, 2, 0, 50 * time.Millisecond},
		{"each attempt doubles", b, 4, 1, 400 * time.Millisecond},
		{"a roll takes its share of the upper half", b, 4, 0.25, 250 * time.Millisecond},
		{"the cap holds", b, 8, 1, 5 * time.Second},
		{"the cap holds where a shift overflows", b, 60, 1, 5 * time.Second},
		{"and far beyond the width of a word", b, math.MaxInt, 1, 5 * time.Second},
		{"a roll above one is clamped", b, 3, 7, 200 * time.Millisecond},
		{"a negative roll is clamped", b, 3, -1, 100 * time.Millisecond},
		{"a roll that is no number counts as nothing", b, 3, math.NaN(), 100 * time.Millisecond},
		{"no base, no wait", restart.Backoff{Cap: time.Second}, 9, 1, 0},
		{"the zero value never waits", restart.Backoff{}, 9, 1, 0},
		{"the largest duration does not overflow", restart.Backoff{Base: 1, Cap: math.MaxInt64}, 65, 1, math.MaxInt64},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tc.b.Delay(tc.attempt, tc.roll); got != tc.want {
				t.Errorf("Delay(%d, %v) = %v, want %v", tc.attempt, tc.roll, got, tc.want)
			}
		})
	}
}

func TestBackoffStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "cap"))
		b := restart.Backoff{Base: time.Duration(rapid.Int64Range(0, int64(limit)).Draw(t, "base")), Cap: limit}
		attempt := rapid.IntRange(1, 200).Draw(t, "attempt")
		roll := rapid.Float64Range(0, 1).Draw(t, "roll")
		d, highest := b.Delay(attempt, roll), b.Delay(attempt, 1)
		if d < highest/2 || d > highest || highest > limit {
			t.Fatalf("delay %v, between a half of %v and that, cap %v", d, highest, limit)
		}
		if next := b.Delay(attempt+1, 1); next < highest {
			t.Fatalf("attempt %d may wait %v, the next only %v", attempt, highest, next)
		}
	})
}

func TestPolicyValidate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		p    restart.Policy
		want string // part of the error, "" for none
	}{
		{"the zero policy is valid", restart.Policy{}, ""},
		{"a full one is", restart.Policy{Strategy: restart.RestForOne, Intensity: 3, Period: time.Minute, MaxConsecutive: 5, Backoff: restart.Backoff{Base: 1, Cap: 2}}, ""},
		{"an intensity of zero allows no restart", restart.Policy{Period: time.Minute}, ""},
		{"unknown strategy", restart.Policy{Strategy: 9}, "unknown strategy 9"},
		{"negative intensity", restart.Policy{Intensity: -1, Period: 1}, "negative intensity"},
		{"negative period", restart.Policy{Period: -1}, "negative period"},
		{"an intensity needs a period", restart.Policy{Intensity: 3}, "without a period"},
		{"negative limit", restart.Policy{MaxConsecutive: -1}, "consecutive"},
		{"negative base", restart.Policy{Backoff: restart.Backoff{Base: -1}}, "negative backoff base"},
		{"cap below base", restart.Policy{Backoff: restart.Backoff{Base: 2, Cap: 1}}, "below its base"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := tc.p.Validate()
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("unexpected error: %v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error %v does not say %q", err, tc.want)
			}
		})
	}
	all := restart.Policy{Strategy: 9, Intensity: -1, Period: -1, MaxConsecutive: -1}.Validate()
	if got := strings.Count(all.Error(), "restart policy:"); got != 4 {
		t.Errorf("%d problems reported, want all 4: %v", got, all)
	}
}

func TestNamesAreOTPs(t *testing.T) {
	t.Parallel()
	got := []string{
		restart.OneForOne.String(), restart.OneForAll.String(), restart.RestForOne.String(), restart.Strategy(7).String(),
		restart.Permanent.String(), restart.Transient.String(), restart.Temporary.String(), restart.Type(7).String(),
	}
	want := "one_for_one one_for_all rest_for_one strategy(7) permanent transient temporary type(7)"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}
