package figure

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// Report is what a run leaves in a file: measurements by name, in the order in
// which they were first put there.
type Report struct {
	Measurements []Measurement `json:"measurements"`
}

// Put adds a measurement, or puts it in the place of the one with its name.
func (r *Report) Put(m Measurement) {
	for i := range r.Measurements {
		if r.Measurements[i].Name == m.Name {
			r.Measurements[i] = m
			return
		}
	}
	r.Measurements = append(r.Measurements, m)
}

// Keep drops all measurements but those that are named.
func (r *Report) Keep(names []string) {
	r.Measurements = slices.DeleteFunc(r.Measurements, func(m Measurement) bool { return !slices.Contains(names, m.Name) })
}

// Get returns the measurement of that name, or nil.
func (r *Report) Get(name string) *Measurement {
	for i := range r.Measurements {
		if r.Measurements[i].Name == name {
			return &r.Measurements[i]
		}
	}
	return nil
}

// Read reads a report; one that does not exist, and "", is empty.
func Read(name string) (*Report, error) {
	r := &Report{}
	b, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("report %s: %w", name, err)
	}
	return r, nil
}

// Write writes the report to a file.
func (r *Report) Write(name string) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return os.WriteFile(name, append(b, '\n'), 0o644)
}
