package figure

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// Samples are one value per round, in the order of the rounds.
type Samples []float64

// MarshalJSON writes five digits of each, which is more than was measured.
func (s Samples) MarshalJSON() ([]byte, error) {
	short := make([]json.RawMessage, len(s))
	for i, x := range s {
		short[i] = strconv.AppendFloat(nil, x, 'g', 5, 64)
	}
	return json.Marshal(short)
}

// Over returns the ratio to the floor, round by round. Of unequal lengths the
// shorter one counts; a round whose floor is zero has no ratio.
func (s Samples) Over(floor Samples) Samples {
	ratios := Samples{}
	for i := range min(len(s), len(floor)) {
		if floor[i] != 0 {
			ratios = append(ratios, s[i]/floor[i])
		}
	}
	return ratios
}

// And returns the mean of both, round by round: for a client that had two turns in each.
func (s Samples) And(other Samples) Samples {
	mean := make(Samples, min(len(s), len(other)))
	for i := range mean {
		mean[i] = (s[i] + other[i]) / 2
	}
	return mean
}

// Quantile returns the least value that the share q of s does not exceed: by the
// nearest rank, so that of a hundred values one is above the 99th; 0 of nothing.
func (s Samples) Quantile(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	const rounding = 1e-9 // of q times a number
	return sorted[max(0, int(math.Ceil(q*float64(len(s))-rounding))-1)]
}

// Median is the middle one, or the mean of the two in the middle; 0 of nothing.
func (s Samples) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Min and Max are the extremes; 0 of nothing.
func (s Samples) Min() float64 { return s.Quantile(0) }

// Max is the largest.
func (s Samples) Max() float64 { return s.Quantile(1) }

// Spread is how far the extremes lie apart, as a share of the median.
func (s Samples) Spread() float64 {
	if m := s.Median(); m != 0 {
		return (s.Max() - s.Min()) / m
	}
	return 0
}
