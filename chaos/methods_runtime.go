package chaos

import (
	"encoding/json"
	"fmt"
	"strconv"
)

var runtimeMethods = map[string]method{
	"Runtime.enable": {on: onTarget, where: inRenderer, run: func(c *call) {
		if !c.s.isRuntimeOn {
			c.s.isRuntimeOn = true
			c.s.target.root.local(func(f *frame) {
				if f.context != 0 {
					c.s.send("Runtime.executionContextCreated", f.contextParams())
				}
			})
			c.s.replay()
		}
		c.ok()
	}},
	"Runtime.disable":    {on: onTarget, where: inRenderer, run: func(c *call) { c.s.isRuntimeOn = false; c.ok() }},
	"Runtime.addBinding": {on: onTarget, where: inRenderer, needs: []string{"name:string"}, run: (*call).ok},
	"Runtime.evaluate":   {on: onTarget, where: inRenderer, needs: []string{"expression:string"}, run: evaluate},
	"Runtime.runIfWaitingForDebugger": {on: onTarget, where: inRenderer, run: func(c *call) {
		if c.s.target.start != nil && c.s.target.parent == nil {
			c.ok() // a popup answers before it starts, an iframe after
			c.b.resume(c.s)
			return
		}
		c.b.resume(c.s)
		c.ok()
	}},
	// A loop is broken by a session that was there before it began; a later
	// one hangs with the rest. Crashes and dialogs are not loops.
	"Runtime.terminateExecution": {on: onTarget, run: func(c *call) {
		p := c.s.target.proc
		if p.isBusy && c.s.isPageInRenderer {
			c.ok()
			c.b.unspin(p)
			return
		}
		if !p.isBlocking(inRenderer) {
			c.ok()
		}
	}},
}

type remoteObject struct {
	Type        string   `json:"type"`
	Subtype     string   `json:"subtype,omitempty"`
	Class       string   `json:"className,omitempty"`
	Value       any      `json:"value,omitempty"`
	Description string   `json:"description,omitempty"`
	ObjectID    string   `json:"objectId,omitempty"`
	Preview     *preview `json:"preview,omitempty"`
}

type preview struct {
	Type        string  `json:"type"`
	Subtype     string  `json:"subtype,omitempty"`
	Description string  `json:"description"`
	Overflow    bool    `json:"overflow"`
	Properties  []empty `json:"properties"`
}

type evaluateResult struct {
	Result  any               `json:"result"`
	Details *exceptionDetails `json:"exceptionDetails,omitempty"`
}

func evaluate(c *call) {
	var p struct {
		Expression  string
		ContextID   int
		UserGesture bool `json:"userGesture"`
		Unbroken    bool `json:"disableBreaks"`
	}
	c.bind(&p)
	f := c.s.target.root
	if p.ContextID != 0 {
		f = nil
		c.s.target.root.local(func(x *frame) {
			if x.context == p.ContextID {
				f = x
			}
		})
		if f == nil {
			c.fail(codeServer, "Cannot find context with specified id")
			return
		}
	}
	if p.UserGesture {
		f.isActivated = true
	}
	proc := f.target.proc
	proc.isUnbroken = p.Unbroken // its debugger statements are nothing (C62)
	o := c.b.exec(f, p.Expression)
	proc.isUnbroken = false
	if o.throws == unknown {
		o = c.b.hook(c, f, p.Expression, p.UserGesture)
	}
	switch {
	case o.isHanging:
	case o.dialog != nil:
		answer := func(r DialogResult) { c.reply(evaluateResult{Result: remote(dialogValue(o.dialog.kind, r))}) }
		if o.dialog.isClosed {
			answer(o.dialog.result)
			return
		}
		o.dialog.then = answer
		o.dialog.broken = func() { c.fail(codeServer, "Inspected target navigated or closed") }
	case o.throws != "":
		class, text := "Error", o.throws
		if text == unknown {
			class, text = "ReferenceError", "outside the dialect of package chaos"
		}
		d := c.b.details(f, class, text)
		d.Context = 0
		c.reply(evaluateResult{Result: d.Exception, Details: &d})
	default:
		c.reply(evaluateResult{Result: remote(o.value)})
	}
	if o.then != nil {
		o.then()
	}
}

func (b *Browser) hook(c *call, f *frame, expression string, gesture bool) outcome {
	if b.options.Evaluate == nil {
		return outcome{throws: unknown}
	}
	v, ok := b.options.Evaluate(Evaluation{
		Target: c.s.target.id, Frame: f.id, URL: f.url, Expression: expression, HasUserGesture: gesture,
	})
	if !ok {
		return outcome{throws: unknown}
	}
	if v.Then != nil {
		b.after = append(b.after, func() { v.Then(b) })
	}
	if v.JSON == nil {
		v.JSON = undefined{}
	}
	return outcome{value: v.JSON, throws: v.Throws}
}

// dialogValue is what the script gets.
func dialogValue(kind DialogType, r DialogResult) any {
	switch kind {
	case Confirm:
		return r.IsAccepted
	case Prompt:
		if r.IsAccepted {
			return r.Text
		}
		return nil
	default:
		return undefined{}
	}
}

// remote wraps a value the way Runtime.evaluate returns it.
func remote(v any) any {
	switch v := v.(type) {
	case undefined:
		return remoteObject{Type: "undefined"}
	case nil:
		return struct {
			Type    string `json:"type"`
			Subtype string `json:"subtype"`
			Value   any    `json:"value"`
		}{"object", "null", nil}
	case string:
		return struct {
			Type  string `json:"type"`
			Value string `json:"value"`
		}{"string", v}
	case bool:
		return struct {
			Type  string `json:"type"`
			Value bool   `json:"value"`
		}{"boolean", v}
	case int:
		return number(float64(v))
	case float64:
		return number(v)
	default:
		return remoteObject{Type: "object", Value: json.RawMessage(marshal(v))}
	}
}

func number(v float64) any {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	return struct {
		Type        string      `json:"type"`
		Value       json.Number `json:"value"`
		Description string      `json:"description"`
	}{"number", json.Number(text), fmt.Sprint(text)}
}
