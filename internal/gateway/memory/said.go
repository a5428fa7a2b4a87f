package memory

import (
	"encoding/json"

	"holdfast/internal/scan"
)

// maxSaid bounds what is kept of the last message of a page's console.
const maxSaid = 64 << 10

// said tells messages of a page's console that the client has been told from those that a
// new session is told once more: a domain that is enabled repeats what it has stored.
type said struct {
	last     map[string][]byte // by domain: the last event that the client was told
	replayed map[string]bool   // the domain is being enabled anew
}

// domainOfSaid is the domain whose enable repeats an event; "" where none does.
func domainOfSaid(method string) string {
	switch method {
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
		return "Runtime"
	case "Log.entryAdded":
		return "Log"
	}
	return ""
}

func (s *said) cut() { s.replayed = nil }

func (s *said) begin(domains map[string]bool) {
	s.replayed = map[string]bool{"Runtime": domains["Runtime"], "Log": domains["Log"]}
}

func (s *said) established(method string) {
	switch method {
	case "Runtime.enable", "Log.enable":
		delete(s.replayed, method[:len(method)-len(".enable")])
	}
}

// isNew says whether the client has not been told an event yet, and notes it.
func (s *said) isNew(domain string, msg []byte) bool {
	if s.replayed[domain] && timeOf(msg) <= timeOf(s.last[domain]) {
		return false
	}
	if s.last == nil {
		s.last = map[string][]byte{}
	}
	if len(msg) <= maxSaid {
		s.last[domain] = append(s.last[domain][:0], msg...)
	}
	return true
}

// timeOf is the timestamp of a message of a page's console, in milliseconds.
func timeOf(msg []byte) float64 {
	params := scan.Members{JSON: msg}
	for params.Next() {
		if string(params.Key) != "params" {
			continue
		}
		var p struct {
			Timestamp float64 `json:"timestamp"`
			Entry     struct {
				Timestamp float64 `json:"timestamp"`
			} `json:"entry"`
		}
		_ = json.Unmarshal(params.Value, &p) // without one it is older than any
		return max(p.Timestamp, p.Entry.Timestamp)
	}
	return 0
}
