package figure_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"holdfast/internal/bench/figure"
)

// run is a measurement whose floor takes 100 and whose noise is 2 %.
func run(machine string, ratios ...float64) *figure.Measurement {
	r := figure.Row{Name: "ours", Ours: true, Ratio: ratios}
	for _, x := range ratios {
		r.Value = append(r.Value, 100*x)
	}
	return &figure.Measurement{
		Name: "roundtrip", Source: figure.Source{Machine: machine},
		Tables: []figure.Table{{Title: "A round trip", Unit: "µs", Noise: figure.Samples{1.01, 1.02, 1.03}, Rows: []figure.Row{r}}},
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	before := []float64{1.20, 1.21, 1.22, 1.23, 1.24, 1.25, 1.26}
	shifted := func(by float64) (after []float64) {
		for _, x := range before {
			after = append(after, x*by)
		}
		return after
	}
	for name, c := range map[string]struct {
		after        []float64
		moved, worse bool
	}{
		"the same":                     {shifted(1), false, false},
		"slower":                       {shifted(1.2), true, true},
		"faster":                       {shifted(0.8), true, false},
		"by less than the noise":       {shifted(1.02), false, true},
		"one bad round":                {[]float64{1.20, 1.21, 1.22, 1.23, 1.24, 1.25, 3}, false, false},
		"too few rounds to be certain": {[]float64{1.5, 1.6}, false, true},
	} {
		changes := figure.Compare(run("a", before...), run("b", c.after...))
		if len(changes) != 1 {
			t.Fatalf("%s: %d changes", name, len(changes))
		}
		if got := changes[0]; got.HasMoved != c.moved || c.moved && got.IsWorse != c.worse || !got.IsOurs {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestMoreIsBetterWhereTheTableSaysSo(t *testing.T) {
	t.Parallel()
	older, newer := run("a", 1, 1.01, 1.02, 1.03, 1.04), run("a", 2, 2.01, 2.02, 2.03, 2.04)
	older.Tables[0].Higher, newer.Tables[0].Higher = true, true
	if c := figure.Compare(older, newer)[0]; !c.HasMoved || c.IsWorse || !strings.HasPrefix(c.String(), "better") {
		t.Errorf("%v", c)
	}
	if c := figure.Compare(newer, older)[0]; !c.HasMoved || !c.IsWorse || !strings.HasPrefix(c.String(), "worse") {
		t.Errorf("%v", c)
	}
}

func TestPlainTimesOfAnotherMachineSayNothing(t *testing.T) {
	t.Parallel()
	older, newer := run("a", 1, 1.1, 1.2, 1.3, 1.4), run("b", 2, 2.1, 2.2, 2.3, 2.4)
	older.Tables[0].Rows[0].Ratio, newer.Tables[0].Rows[0].Ratio = nil, nil
	if c := figure.Compare(older, newer); len(c) != 0 {
		t.Errorf("compared: %v", c)
	}
	newer.Source.Machine = "a"
	if c := figure.Compare(older, newer); len(c) != 1 || !c[0].IsWorse {
		t.Errorf("on the same machine: %v", c)
	}
	older.Tables[0].Unit, newer.Tables[0].Unit, newer.Source.Machine = "KiB", "KiB", "b"
	if c := figure.Compare(older, newer); len(c) != 1 {
		t.Errorf("memory: %v", c)
	}
}

func TestCountsAreExact(t *testing.T) {
	t.Parallel()
	one := func(n float64) *figure.Measurement {
		m := run("a")
		m.Tables[0].Unit, m.Tables[0].Rows[0].Value = "allocations", figure.Samples{n}
		return m
	}
	if c := figure.Compare(one(0), one(1))[0]; !c.HasMoved || !c.IsWorse {
		t.Errorf("an allocation more: %+v", c)
	}
	if c := figure.Compare(one(0.0001), one(0.0003))[0]; c.HasMoved {
		t.Errorf("of the runtime's own, spread over all: %+v", c)
	}
	if c := figure.Compare(one(1), one(1))[0]; c.HasMoved {
		t.Errorf("nothing: %+v", c)
	}
}

// noisy is a run of nine rounds on a machine that is busy now and then: ratios
// vary by some percent, and one round in twenty is half as slow again.
func noisy(r *rand.Rand, ratio float64) *figure.Measurement {
	rounds := make([]float64, 9)
	for i := range rounds {
		rounds[i] = ratio * math.Exp(0.04*r.NormFloat64())
		if r.Float64() < 0.05 {
			rounds[i] *= 1.5
		}
	}
	return run("a", rounds...)
}

// A build that is called worse by mistake is not measured again, and one that is missed
// need not be.
func TestAHandicapIsToldFromNoise(t *testing.T) {
	t.Parallel()
	const pairs = 1000
	for name, c := range map[string]struct {
		handicap    float64
		least, most int // how often it is called worse
	}{
		"none":      {1, 0, pairs / 50},
		"a quarter": {1.25, pairs * 95 / 100, pairs},
		"a half":    {1.5, pairs * 99 / 100, pairs},
	} {
		r, found := rand.New(rand.NewPCG(1, 2)), 0
		for range pairs {
			if c := figure.Compare(noisy(r, 1.2), noisy(r, 1.2*c.handicap))[0]; c.HasMoved && c.IsWorse {
				found++
			}
		}
		if found < c.least || found > c.most {
			t.Errorf("%s: %d of %d runs are worse", name, found, pairs)
		}
	}
}
