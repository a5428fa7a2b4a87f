package chaos

import (
	"fmt"

	"holdfast/messages"
)

type consoleParams struct {
	Type      string         `json:"type"`
	Args      []remoteObject `json:"args"`
	Context   int            `json:"executionContextId"`
	Timestamp float64        `json:"timestamp"`
	Stack     stackTrace     `json:"stackTrace"`
}

type stackTrace struct {
	Frames []callFrame `json:"callFrames"`
}

type callFrame struct {
	Function string `json:"functionName"`
	Script   string `json:"scriptId"`
	URL      string `json:"url"`
	Line     int    `json:"lineNumber"`
	Column   int    `json:"columnNumber"`
}

type exceptionParams struct {
	Timestamp float64          `json:"timestamp"`
	Details   exceptionDetails `json:"exceptionDetails"`
}

type exceptionDetails struct {
	ID        int           `json:"exceptionId"`
	Text      string        `json:"text"`
	Line      int           `json:"lineNumber"`
	Column    int           `json:"columnNumber"`
	Script    string        `json:"scriptId,omitempty"`
	URL       string        `json:"url,omitempty"`
	Stack     *stackTrace   `json:"stackTrace,omitempty"`
	Exception *remoteObject `json:"exception,omitempty"`
	Context   int           `json:"executionContextId,omitempty"`
}

// LogError has a script of the frame write an error to the console.
func (b *Browser) LogError(id messages.FrameID, text string) bool {
	return b.runInFrame(id, func(f *frame) { b.consoleError(f, text) })
}

// ThrowException has a script of the frame throw an error that is not caught.
func (b *Browser) ThrowException(id messages.FrameID, text string) bool {
	return b.runInFrame(id, func(f *frame) { b.exception(f, text) })
}

func (b *Browser) runInFrame(id messages.FrameID, f func(*frame)) (found bool) {
	b.do(func() {
		if target := b.frame(id); target != nil {
			found = true
			b.script(target, func() { f(target) })
		}
	})
	return found
}

func (b *Browser) consoleError(f *frame, text string) {
	f.target.report("Runtime.consoleAPICalled", consoleParams{
		"error",
		[]remoteObject{{Type: "string", Value: text}},
		f.context, b.ids.timestamp(),
		stackTrace{[]callFrame{{Script: "1", Column: 8}}},
	})
}

func (b *Browser) exception(f *frame, text string) {
	d := b.details(f, "Error", text)
	d.Exception.Preview = &preview{Type: "object", Subtype: "error", Description: d.Exception.Description, Properties: []empty{}}
	f.target.report("Runtime.exceptionThrown", exceptionParams{b.ids.timestamp(), d})
}

// maxReports is how many of its latest reports a target keeps.
const maxReports = 1000

// report is what a target's console was told.
type report struct {
	method string
	params any
}

// report tells all who listen, and keeps it for those who will.
func (t *target) report(method string, params any) {
	if len(t.reports) >= maxReports {
		t.reports = t.reports[1:]
	}
	t.reports = append(t.reports, report{method, params})
	t.each(isRuntimeOn, method, params)
}

// replay says all again that the document has reported: a session that enables
// Runtime hears it.
func (s *session) replay() {
	for _, r := range s.target.reports {
		if e, ok := r.params.(exceptionParams); ok {
			bare := *e.Details.Exception
			bare.Preview = nil
			e.Details.Exception = &bare
			r.params = e
		}
		s.send(r.method, r.params)
	}
}

func (b *Browser) details(f *frame, class, text string) exceptionDetails {
	b.ids.n++
	return exceptionDetails{
		ID: int(b.ids.n & 0x7fffffff), Text: "Uncaught", Script: "1",
		Stack: &stackTrace{[]callFrame{{Script: "1"}}},
		Exception: &remoteObject{
			Type: "object", Subtype: "error", Class: class,
			Description: fmt.Sprintf("%s: %s\n    at <anonymous>:1:1", class, text), ObjectID: b.ids.unique(),
		},
		Context: f.context,
	}
}
