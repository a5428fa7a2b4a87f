package scan_test

import (
	"encoding/json"
	"testing"

	"holdfast/internal/scan"
)

// FuzzWalk compares the walks with encoding/json on whatever is JSON.
func FuzzWalk(f *testing.F) {
	for _, s := range []string{`{}`, `[]`, `[1,"a,]",{"b":[]}, null ]`, ` {"a" : 1 , "b":"\"}"}`, `[,]`, `[1,]`, `{"a"}`, `{"a":1,}`, `[1}`, `["\u0041"]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := scan.Members{JSON: b}
		members := map[string]string{}
		for m.Next() {
			members[string(m.Key)] = string(m.Value)
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(b, &object) == nil && object != nil && json.Valid(b) {
			for key, value := range object {
				if got, ok := members[key]; ok && got != string(value) {
					t.Errorf("%q: %q is %q", b, key, got)
				}
			}
			if m.Bad != "" {
				t.Errorf("%q: %s", b, m.Bad)
			}
		}
		e := scan.Elements{JSON: b}
		var elements []string
		for e.Next() {
			elements = append(elements, string(e.Value))
		}
		var list []json.RawMessage
		if json.Unmarshal(b, &list) == nil && list != nil && b[0] == '[' && b[len(b)-1] == ']' {
			if e.Bad != "" || len(list) != len(elements) {
				t.Fatalf("%q: %d elements, want %d: %s", b, len(elements), len(list), e.Bad)
			}
			for i := range list {
				if elements[i] != string(list[i]) {
					t.Errorf("%q: element %d is %q", b, i, elements[i])
				}
			}
		}
	})
}
