package rawcdp

import (
	_ "embed"
	"fmt"
	"strings"
)

// Decision says what a method reaches, and so who may run it. decisions.txt
// explains the words.
type Decision string

// The decisions.
const (
	Allow    Decision = "allow"
	Own      Decision = "own"
	Kept     Decision = "kept"
	Target   Decision = "target"
	Window   Decision = "window"
	Context  Decision = "context"
	Cookies  Decision = "cookies"
	Confined Decision = "confined"
	Download Decision = "download"
	Drag     Decision = "drag"
	Browser  Decision = "browser"
	Machine  Decision = "machine"
)

//go:embed decisions.txt
var decisionsText string

var decisions = mustParse(decisionsText)

// Of returns the decision on a method; "" where there is none.
func Of(method string) Decision { return decisions[method] }

// Decided returns every method that has a decision, in no order.
func Decided() []string {
	list := make([]string, 0, len(decisions))
	for m := range decisions {
		list = append(list, m)
	}
	return list
}

func mustParse(text string) map[string]Decision {
	d, err := parse(text)
	if err != nil {
		panic("rawcdp: decisions.txt: " + err.Error()) // held by a test
	}
	return d
}

func parse(text string) (map[string]Decision, error) {
	decided := map[string]Decision{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, method, ok := strings.Cut(line, " ")
		method = strings.TrimSpace(method)
		d := Decision(word)
		switch d {
		case Allow, Own, Kept, Target, Window, Context, Cookies, Confined, Download, Drag, Browser, Machine:
		default:
			ok = false
		}
		if !ok || !strings.Contains(method, ".") {
			return nil, fmt.Errorf("line %d is no decision", i+1)
		}
		if _, twice := decided[method]; twice {
			return nil, fmt.Errorf("line %d decides %s again", i+1, method)
		}
		decided[method] = d
	}
	return decided, nil
}

// kept says why a method is refused to all.
var kept = map[string]string{
	"Browser.close":                 "it would end the browser under its supervisor; stop the task instead",
	"Target.setAutoAttach":          "attaching is the supervisor's work",
	"Target.autoAttachRelated":      "attaching is the supervisor's work",
	"Target.attachToTarget":         "attaching is the supervisor's work; name a page by target_id or a frame by frame_id",
	"Target.attachToBrowserTarget":  "attaching is the supervisor's work",
	"Target.detachFromTarget":       "attaching is the supervisor's work",
	"Target.setDiscoverTargets":     "discovery is the supervisor's work; the snapshot lists the pages",
	"Target.sendMessageToTarget":    "it would go around the supervisor",
	"Target.exposeDevToolsProtocol": "it would hand the browser to the page",
	"Page.disable":                  "dialogs would become unanswerable",
	"Runtime.disable":               "console errors would be lost",
	"Inspector.disable":             "crashes would go unseen",
}
