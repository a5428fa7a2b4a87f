package view

import (
	_ "embed"
	"fmt"
	"strings"
)

// Decision says what becomes of a method on the browser's own session. methods.txt explains
// the words.
type Decision string

// The decisions.
const (
	Forwarded  Decision = "forwarded"
	Restricted Decision = "restricted"
	Local      Decision = "local"
	Refused    Decision = "refused"
)

//go:embed methods.txt
var methodsText string

var decisions, reasons = mustParse(methodsText)

// Of returns the decision on a method of the browser's own session; "" where the browser
// does not have it there.
func Of(method string) Decision { return decisions[method] }

// Methods returns every method of the table, in no order.
func Methods() map[string]Decision { return decisions }

// Reason says why a method is refused; "" for every other.
func Reason(method string) string { return reasons[method] }

func mustParse(text string) (map[string]Decision, map[string]string) {
	d, why, err := parse(text)
	if err != nil {
		panic("view: methods.txt: " + err.Error()) // held by a test
	}
	return d, why
}

func parse(text string) (map[string]Decision, map[string]string, error) {
	decided, why := map[string]Decision{}, map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		method, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		reason = strings.TrimSpace(reason)
		d := Decision(word)
		switch {
		case d != Forwarded && d != Restricted && d != Local && d != Refused, !strings.Contains(method, "."), (d == Refused) == (reason == ""):
			return nil, nil, fmt.Errorf("line %d is no decision", i+1)
		case decided[method] != "":
			return nil, nil, fmt.Errorf("line %d decides %s again", i+1, method)
		}
		decided[method] = d
		if reason != "" {
			why[method] = reason
		}
	}
	return decided, why, nil
}
