package chaos

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"holdfast/messages"
)

// The Debugger domain, as far as the bridge goes (C47): the only debugger statement
// there is stands in the bridge's script (bridge.go).
var debuggerMethods = map[string]method{
	"Debugger.enable":                       {on: onTarget, where: inRenderer, run: debuggerEnable},
	"Debugger.disable":                      {on: onTarget, where: inRenderer, run: debuggerDisable},
	"Debugger.setBlackboxPatterns":          {on: onTarget, where: inRenderer, needs: []string{"patterns"}, run: setBlackboxPatterns},
	"Debugger.setSkipAllPauses":             {on: onTarget, where: inRenderer, needs: []string{"skip:bool"}, run: setSkipAllPauses},
	"Debugger.resume":                       {on: onTarget, where: inRenderer, run: debuggerResume},
	"Debugger.stepOver":                     {on: onTarget, where: inRenderer, run: debuggerStep},
	"Debugger.evaluateOnCallFrame":          {on: onTarget, where: inRenderer, needs: []string{"callFrameId:string", "expression:string"}, run: evaluateOnCallFrame},
	"Debugger.setBreakpointsActive":         {on: onTarget, where: inRenderer, needs: []string{"active:bool"}, run: setBreakpointsActive},
	"Debugger.setBlackboxExecutionContexts": {on: onTarget, where: inRenderer, needs: []string{"uniqueIds"}, run: (*call).ok},
}

// debugs is what a session's debugger is set to. It lasts as long as the session.
type debugs struct {
	isOn       bool
	isSkipping bool
	isIdle     bool // its breakpoints, and debugger statements, are not active
	black      []pattern
	// isNumb is set where a renderer has taken the place of a crashed one: the debugger
	// is on and stops nowhere, until it is turned on anew or the page navigates.
	isNumb bool
}

// pattern blackboxes the scripts whose name it matches.
type pattern func(name string) bool

// except is the one lookahead that is asked for; Go's expressions have none.
var except = regexp.MustCompile(`^\^\(\?!([0-9A-Za-z]+)\$\)$`)

func newPattern(text string) (pattern, bool) {
	if m := except.FindStringSubmatch(text); m != nil {
		return func(name string) bool { return name != m[1] }, true
	}
	r, err := regexp.Compile(text)
	if err != nil {
		return nil, false
	}
	return r.MatchString, true
}

// canStopAt says whether the session has the debugger stop in a script.
func (s *session) canStopAt(name string) bool {
	black := slices.ContainsFunc(s.debugs.black, func(p pattern) bool { return p(name) })
	return s.debugs.isOn && !s.debugs.isSkipping && !s.debugs.isIdle && !s.debugs.isNumb && !black
}

func isDebugging(s *session) bool { return s.debugs.isOn }

// pause is a call that waits in the debugger. It stands still with all scripts of its
// process; who asks the page anything is answered. It belongs to the target whose
// document it is: all its debuggers are told, also those that come later, and any of
// them may let it go on.
type pause struct {
	proc   *proc
	target *target
	frame  *frame
	params pausedParams
	call   *bridgedCall // nil once its document has gone
}

type pausedParams struct {
	Frames []pausedFrame `json:"callFrames"`
	Reason string        `json:"reason"`
	Hit    []string      `json:"hitBreakpoints"`
}

type pausedFrame struct {
	ID       string       `json:"callFrameId"`
	Function string       `json:"functionName"`
	Defined  location     `json:"functionLocation"`
	Location location     `json:"location"`
	URL      string       `json:"url"`
	Scopes   []empty      `json:"scopeChain"`
	This     remoteObject `json:"this"`
	Restarts bool         `json:"canBeRestarted"`
}

type location struct {
	Script string `json:"scriptId"`
	Line   int    `json:"lineNumber"`
	Column int    `json:"columnNumber"`
}

// callFrameID is made of isolate, context and depth.
func (b *Browser) callFrameID(f *frame) string {
	p := f.target.proc
	if p.isolate == "" {
		p.isolate = strconv.FormatInt(int64(b.ids.next()), 10)
	}
	return p.isolate + "." + strconv.Itoa(f.context) + ".0"
}

// stop halts a script of f's document whose name is name, if a debugger stops there.
func (b *Browser) stop(f *frame, name string, p *pause) bool {
	t := f.target
	// Chrome does not stop within a stop.
	if t.proc.pause != nil || t.proc.isUnbroken || !slices.ContainsFunc(t.sessions, func(s *session) bool { return s.canStopAt(name) }) {
		return false
	}
	p.proc, p.target, p.frame = t.proc, t, f
	t.proc.pause, t.pause = p, p
	t.each(isDebugging, "Debugger.paused", p.params)
	return true
}

// leave lets the process of p go on.
func (b *Browser) leavePause(p *pause) {
	p.proc.pause, p.target.pause = nil, nil
	b.drain(p.proc)
}

// goOn ends a pause as a debugger does; its script runs on.
func (b *Browser) goOn(p *pause) {
	b.leavePause(p)
	p.target.each(isDebugging, "Debugger.resumed", empty{})
	if p.call != nil {
		p.call.by.IsUntold = p.call.by.IsUntold && p.isUnseen()
		b.resumed(p.call)
	}
}

// isUnseen says whether the client whose answer a call has, has been without a debugger here
// since. One that comes later sees the call continue, and is not told with what.
func (p *pause) isUnseen() bool {
	c := p.call
	c.isUnseen = c.isUnseen || !slices.ContainsFunc(p.target.sessions, func(s *session) bool { return s.debugs.isOn && s.conn.host == c.by.Host })
	return c.isUnseen
}

// maybeGoOn ends a pause that no client is left to end.
func (b *Browser) maybeGoOn(t *target) {
	p := t.pause
	if p == nil {
		return
	}
	if p.call != nil {
		p.isUnseen()
	}
	if !slices.ContainsFunc(t.sessions, isDebugging) {
		if p.call != nil {
			p.call.by.IsAlone = true
		}
		b.goOn(p)
	}
}

// endPause is the end of a target's document: no event reports it, and no script continues.
func (b *Browser) endPause(t *target, by ClosedBy) {
	if p := t.pause; p != nil {
		b.leavePause(p)
		b.forsake(p, by)
	}
}

// forsake is a document that goes under its script. Where that is a frame's, the
// process stands still on, with nothing to come.
func (b *Browser) forsake(p *pause, by ClosedBy) {
	if p.call == nil {
		return
	}
	d := p.call.d
	p.call, d.waits = nil, nil
	if d.broken != nil {
		d.then = nil
		d.broken()
	}
	b.finish(d, DialogResult{By: by})
}

// forsakeWithin is the end of the documents of f and of the frames below.
func (b *Browser) forsakeWithin(f *frame) {
	for _, t := range b.targets {
		if t.pause != nil && t.pause.frame.isWithin(f) {
			b.forsake(t.pause, ClosedByNavigation)
		}
	}
}

type scriptParams struct {
	Script   string      `json:"scriptId"`
	URL      string      `json:"url"`
	Line     int         `json:"startLine"`
	Column   int         `json:"startColumn"`
	EndLine  int         `json:"endLine"`
	EndCol   int         `json:"endColumn"`
	Context  int         `json:"executionContextId"`
	Hash     string      `json:"hash"`
	Build    string      `json:"buildId"`
	Aux      contextData `json:"executionContextAuxData"`
	LiveEdit bool        `json:"isLiveEdit"`
	Map      string      `json:"sourceMapURL"`
	HasURL   bool        `json:"hasSourceURL"`
	Module   bool        `json:"isModule"`
	Length   int         `json:"length"`
	Stack    *stackTrace `json:"stackTrace,omitempty"` // where the process stands still
	Language string      `json:"scriptLanguage"`
	Embedder string      `json:"embedderName"`
}

func (f *frame) scriptParams(name string) scriptParams {
	var stack *stackTrace
	if f.target.proc.pause != nil {
		stack = &stackTrace{}
	}
	return scriptParams{
		Stack: stack, Script: "1", URL: name, Context: f.context, Aux: contextData{true, "default", f.id}, HasURL: true, Language: "JavaScript",
	}
}

func debuggerEnable(c *call) {
	s := c.s
	if !s.debugs.isOn {
		s.debugs.isOn, s.debugs.isNumb = true, false
		s.target.root.local(func(f *frame) {
			for _, name := range f.parsed {
				s.send("Debugger.scriptParsed", f.scriptParams(name))
			}
		})
		if p := s.target.pause; p != nil {
			s.send("Debugger.paused", p.params)
		}
	}
	c.reply(struct {
		ID string `json:"debuggerId"`
	}{"1.1"})
}

func debuggerDisable(c *call) {
	c.s.debugs = debugs{black: c.s.debugs.black}
	c.ok()
	c.b.maybeGoOn(c.s.target)
}

func setBlackboxPatterns(c *call) {
	var p struct{ Patterns []string }
	c.bind(&p)
	var list []pattern
	for _, text := range p.Patterns {
		next, ok := newPattern(text)
		if !ok {
			c.fail(codeServer, "Pattern parser error: Invalid regular expression")
			return
		}
		list = append(list, next)
	}
	c.s.debugs.black = list
	c.ok()
}

func setSkipAllPauses(c *call) {
	var p struct {
		Skip bool `json:"skip"`
	}
	c.bind(&p)
	c.s.debugs.isSkipping = p.Skip
	c.ok()
}

func setBreakpointsActive(c *call) {
	var p struct {
		Active bool `json:"active"`
	}
	c.bind(&p)
	c.s.debugs.isIdle = !p.Active
	c.ok()
}

const textNotPaused = "Can only perform operation while paused."

func debuggerResume(c *call) {
	p := c.s.target.pause
	if p == nil || !c.s.debugs.isOn {
		c.fail(codeServer, textNotPaused)
		return
	}
	c.ok()
	c.b.goOn(p)
}

// debuggerStep comes to another line of the same function.
func debuggerStep(c *call) {
	p := c.s.target.pause
	switch {
	case p == nil || !c.s.debugs.isOn:
		c.fail(codeServer, textNotPaused)
	case p.call == nil:
		c.ok()
		c.b.goOn(p)
	default:
		c.ok()
		p.target.each(isDebugging, "Debugger.resumed", empty{})
		p.target.each(isDebugging, "Debugger.paused", p.params)
	}
}

// answers is the one expression that is asked of a call: whether it is that of the
// name, and then to take the answer.
var answers = regexp.MustCompile(`^id===("(?:[^"\\]|\\.)*")&&\(answer=(.*),true\)$`)

func evaluateOnCallFrame(c *call) {
	p := c.s.target.pause
	if p == nil || !c.s.debugs.isOn {
		c.fail(codeServer, textNotPaused)
		return
	}
	var asked struct{ CallFrameID, Expression string }
	c.bind(&asked)
	switch {
	case strings.Count(asked.CallFrameID, ".") != 2:
		c.fail(codeServer, "Invalid call frame id")
		return
	case asked.CallFrameID != p.params.Frames[0].ID:
		c.fail(codeServer, "Could not find call frame with given id")
		return
	}
	var key string
	m := answers.FindStringSubmatch(asked.Expression)
	if m == nil || json.Unmarshal([]byte(m[1]), &key) != nil || !json.Valid([]byte(m[2])) {
		d := c.b.details(p.frame, "ReferenceError", "outside the dialect of package chaos")
		c.reply(evaluateResult{Result: d.Exception, Details: &d})
		return
	}
	taken := p.call != nil && p.call.key == key
	if taken {
		p.call.answer = json.RawMessage(m[2])
		answered := p.call
		answered.isUnseen = false
		answered.by = DialogResult{By: ClosedByAnswer, Session: c.s.id, Conn: c.s.conn.number, Host: c.s.conn.host, IsUntold: true}
		c.told = func() { answered.by.IsUntold = false }
	}
	c.reply(evaluateResult{Result: remote(taken)})
}

// sandboxes: what makes one can be asked for. The fake has none.
var boxMethods = map[string]method{
	"Network.getSecurityIsolationStatus": {on: onTarget, run: func(c *call) {
		type policy struct {
			Value  string `json:"value"`
			Report string `json:"reportOnlyValue"`
		}
		type status struct {
			Opener   policy `json:"coop"`
			Embedder policy `json:"coep"`
		}
		c.reply(struct {
			Status status `json:"status"`
		}{status{policy{"UnsafeNone", "UnsafeNone"}, policy{"None", "None"}}})
	}},
	"DOM.getFrameOwner": {on: onTarget, where: inRenderer, needs: []string{"frameId:string"}, run: func(c *call) {
		var p struct{ FrameID messages.FrameID }
		c.bind(&p)
		f := c.b.frame(p.FrameID)
		if f == nil || f.parent == nil || f.parent.target != c.s.target {
			c.fail(codeServer, "Frame with the given id was not found.")
			return
		}
		c.reply(struct {
			Node int `json:"backendNodeId"`
		}{6})
	}},
	"DOM.describeNode": {on: onTarget, where: inRenderer, run: func(c *call) {
		type node struct {
			Name       string   `json:"nodeName"`
			Attributes []string `json:"attributes"`
		}
		c.reply(struct {
			Node node `json:"node"`
		}{node{"IFRAME", []string{}}})
	}},
}
