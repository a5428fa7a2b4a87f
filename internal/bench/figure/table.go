package figure

// Goal is a bound for the median of a row, or for the worst of its rounds.
type Goal struct {
	// AtMost or AtLeast is the bound; the other one is nil.
	AtMost  *float64 `json:"at_most,omitempty"`
	AtLeast *float64 `json:"at_least,omitempty"`
	// Value is set where the bound is for the value itself, else it is for the
	// ratio to the floor.
	Value bool `json:"value,omitempty"`
	// Always is set where every round has to keep to it.
	Always bool `json:"always,omitempty"`
}

// RatioAtMost, RatioAtLeast, ValueAtMost and ValueNeverAbove make goals.
func RatioAtMost(x float64) *Goal { return &Goal{AtMost: &x} }

// RatioAtLeast bounds the ratio from below.
func RatioAtLeast(x float64) *Goal { return &Goal{AtLeast: &x} }

// ValueAtMost bounds the value from above.
func ValueAtMost(x float64) *Goal { return &Goal{AtMost: &x, Value: true} }

// ValueNeverAbove bounds the value of each round from above.
func ValueNeverAbove(x float64) *Goal { return &Goal{AtMost: &x, Value: true, Always: true} }

// Row is one client's figures.
type Row struct {
	Name string `json:"name"`
	// Value has the unit of the table, Ratio none: it is over the floor of the
	// same round, and empty where there is no floor.
	Value Samples `json:"value"`
	Ratio Samples `json:"ratio,omitempty"`
	Goal  *Goal   `json:"goal,omitempty"`
	// Ours is set where the client is Holdfast.
	Ours bool `json:"ours,omitempty"`
	// Reason says why the goal is missed, as far as it is known.
	Reason string `json:"reason,omitempty"`
	// Note is what else there is to know; alone, it stands for a client that
	// could not be measured.
	Note string `json:"note,omitempty"`
}

// Judged is what the row's goal is for: ratios or values.
func (r Row) Judged() Samples {
	if r.Goal != nil && r.Goal.Value || len(r.Ratio) == 0 {
		return r.Value
	}
	return r.Ratio
}

// Met says whether the row keeps to its goal; ok is false where there is none. Nothing
// measured meets nothing.
func (r Row) Met() (met, ok bool) {
	if r.Goal == nil {
		return false, false
	}
	s := r.Judged()
	if len(s) == 0 {
		return false, true
	}
	low, high := s.Median(), s.Median()
	if r.Goal.Always {
		low, high = s.Min(), s.Max()
	}
	return (r.Goal.AtMost == nil || high <= *r.Goal.AtMost) && (r.Goal.AtLeast == nil || low >= *r.Goal.AtLeast), true
}

// Table is one quantity of several clients, measured together.
type Table struct {
	Title string `json:"title"`
	Unit  string `json:"unit"`
	// Higher is set where more is better.
	Higher bool  `json:"higher,omitempty"`
	Rows   []Row `json:"rows"`
	// Floor is what ratios are to, where that is not called the floor.
	Floor string `json:"floor,omitempty"`
	// Noise is the floor's second turn in each round over its first: what of a
	// ratio is the machine's. The floor of a ratio is the mean of both.
	Noise Samples `json:"noise,omitempty"`
}

// Row returns the row of that name, or nil.
func (t *Table) Row(name string) *Row {
	for i := range t.Rows {
		if t.Rows[i].Name == name {
			return &t.Rows[i]
		}
	}
	return nil
}

// Measurement is what one of the bench's programs measured.
type Measurement struct {
	Name string `json:"name"`
	// Source says where and on what: the commit, the browser, the machine.
	Source Source  `json:"source"`
	Took   float64 `json:"took_s"`
	Tables []Table `json:"tables"`
}

// Source is where figures come from.
type Source struct {
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	Machine string `json:"machine"`
	Browser string `json:"browser,omitempty"`
}
