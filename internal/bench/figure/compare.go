package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// least is by how much a median has to move to count as a change.
const least = 0.03

// Of allocations, what the runtime makes now and then is spread over all that was counted:
// one in a hundred is the least that counts.
const (
	allocations      = "allocations"
	leastAllocations = 0.01
)

// Change is a row in two runs.
type Change struct {
	Measurement, Table, Row string
	// IsOurs is set where the row is Holdfast's.
	IsOurs bool
	// Old and New are medians, of ratios where both runs have them.
	Old, New float64
	// P is how likely the difference is one of luck alone.
	P float64
	// HasMoved is set where it is not, and larger than the noise; Worse where it
	// moved the wrong way.
	HasMoved, IsWorse bool
}

func (c Change) String() string {
	how := "moved"
	switch {
	case c.HasMoved && c.IsWorse:
		how = "worse"
	case c.HasMoved:
		how = "better"
	}
	delta := "from nothing"
	if c.Old != 0 {
		delta = fmt.Sprintf("%+.1f %%", 100*(c.New/c.Old-1))
	}
	return fmt.Sprintf("%-7s %s: %s: %s → %s (%s, p=%.3f)", how, c.Table, c.Row, number(c.Old), number(c.New), delta, c.P)
}

// Compare sets a run against an older one. Rows that only one of them has are
// left out, and so are plain times and rates of another machine.
//
// The test is benchstat's (Mann and Whitney's U), over the rounds' ratios. It
// trusts no distribution, and two runs of one build differ now and then all the
// same; hence a median has to move further, too, than the floor moved against
// itself.
func Compare(older, newer *Measurement) (changes []Change) {
	for i := range newer.Tables {
		t := &newer.Tables[i]
		j := slices.IndexFunc(older.Tables, func(o Table) bool { return o.Title == t.Title })
		if j < 0 {
			continue
		}
		o := &older.Tables[j]
		noise := math.Max(least, math.Max(bias(o.Noise), bias(t.Noise)))
		for _, r := range t.Rows {
			was := o.Row(r.Name)
			if was == nil {
				continue
			}
			before, after := was.Ratio, r.Ratio
			if len(before) == 0 || len(after) == 0 {
				if isMachineUnit(t.Unit) && older.Source.Machine != newer.Source.Machine {
					continue
				}
				before, after = was.Value, r.Value
			}
			if len(before) == 0 || len(after) == 0 {
				continue
			}
			c := Change{Measurement: newer.Name, Table: t.Title, Row: r.Name, IsOurs: r.Ours, Old: before.Median(), New: after.Median()}
			c.P, c.HasMoved = differ(before, after)
			c.HasMoved = c.HasMoved && math.Abs(c.New-c.Old) > noise*math.Abs(c.Old)
			if t.Unit == allocations {
				c.HasMoved = c.HasMoved && math.Abs(c.New-c.Old) > leastAllocations
			}
			c.IsWorse = c.New > c.Old != t.Higher
			changes = append(changes, c)
		}
	}
	return changes
}

// bias is by how much the floor differs from itself.
func bias(noise Samples) float64 {
	if len(noise) == 0 {
		return 0
	}
	return math.Abs(noise.Median() - 1)
}

// isMachineUnit says that a unit is of the machine as much as of the program.
func isMachineUnit(unit string) bool {
	return unit == "ns" || unit == "µs" || unit == "ms" || strings.HasSuffix(unit, "/s")
}

// differ says how likely it is that both are samples of the same. Where there is
// one of each, they are taken for exact.
func differ(a, b Samples) (p float64, differ bool) {
	if len(a) == 1 && len(b) == 1 {
		return 0, a[0] != b[0]
	}
	sample := func(s Samples) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(s), &benchmath.DefaultThresholds)
	}
	c := benchmath.AssumeNothing.Compare(sample(a), sample(b))
	return c.P, c.P < c.Alpha
}
