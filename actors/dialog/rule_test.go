package dialog_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// ruled is a machine with rules, and what it has done.
type ruled struct {
	m      *dialog.Machine
	orders []mail.HandleDialog
	last   mail.DialogsChanged
	closed []messages.ClosedDialog
}

func newRuled(spec messages.TaskSpec, memory mail.DialogMemory) *ruled {
	r := &ruled{m: dialog.NewMachine(spec.WithDefaults(), memory)}
	r.step(mail.PageWatched{Gen: 1, Page: "T", Session: "P"})
	r.step(mail.PageCovered{Gen: 1, Page: "T", Session: "P"})
	r.step(dialog.Start{})
	return r
}

func (r *ruled) step(in any) {
	for _, e := range slices.Clone(r.m.Step(time.Unix(1000, 0), in)) {
		switch e := e.(type) {
		case dialog.ToSession:
			r.orders = append(r.orders, e.Msg)
		case dialog.Answer:
			calls.Answer(e.To, e.Value, e.Err)
		case dialog.ToSupervisor:
			if c, ok := e.Msg.(mail.DialogsChanged); ok {
				r.last = c
				if c.Closed != nil {
					r.closed = append(r.closed, *c.Closed)
				}
			}
		}
	}
}

func (r *ruled) opens(kind messages.DialogType, message string) {
	r.step(mail.DialogOpened{Gen: 1, Session: "P", Page: "T", Frame: "T", Type: kind, Message: message, Default: "its own", URL: "https://shop.test/cart"})
}

// answer is an answer to the only dialog, and the code that it is refused with.
func (r *ruled) answer(by messages.Answerer) messages.Code {
	code := make(chan messages.Code, 1)
	reply := calls.Open(func(_ any, err error) {
		if err == nil {
			code <- ""
			return
		}
		code <- messages.CodeOf(err)
	})
	r.step(mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept, By: by}, Reply: reply})
	if n := len(r.orders); n > 0 {
		r.step(mail.DialogHandled{Dialog: r.orders[n-1].Dialog, Session: "P"})
	}
	select {
	case c := <-code:
		return c
	default:
		return "no answer"
	}
}

func TestARuleAnswersBeforeThePolicy(t *testing.T) {
	t.Parallel()
	typed := "typed"
	spec := messages.TaskSpec{
		DialogPolicy: messages.PolicyAutoDismiss, BeforeUnload: messages.BeforeUnloadDismiss,
		NodeRules: messages.DialogRules{{Message: "*never*", Action: messages.RuleDismiss}},
		DialogRules: messages.DialogRules{
			{Message: "*", Origin: "https://other.test", Action: messages.RuleHuman},
			{Type: messages.DialogPrompt, Action: messages.RuleAccept, PromptText: &typed},
			{Type: messages.DialogBeforeUnload, Action: messages.RuleAccept},
			{Message: "go on?", Action: messages.RuleAccept},
		},
	}
	for _, c := range []struct {
		kind    messages.DialogType
		message string
		accept  bool
		text    string
		by      messages.ClosedBy
		rule    string
	}{
		{messages.DialogConfirm, "Go on?", true, "", messages.ClosedByRule, "dialog_rules[3]"},
		{messages.DialogPrompt, "name", true, "typed", messages.ClosedByRule, "dialog_rules[1]"},
		{messages.DialogPrompt, "never this", false, "", messages.ClosedByRule, "node_rules[0]"},
		{messages.DialogBeforeUnload, "", true, "", messages.ClosedByRule, "dialog_rules[2]"},
		{messages.DialogConfirm, "something else", false, "", messages.ClosedByAutoPolicy, ""},
	} {
		r := newRuled(spec, mail.DialogMemory{})
		r.opens(c.kind, c.message)
		if len(r.orders) != 1 || r.orders[0].MustAccept != c.accept || len(r.last.Pending) != 0 {
			t.Errorf("%s %q: orders %+v, pending %v", c.kind, c.message, r.orders, r.last.Pending)
			continue
		}
		if text := r.orders[0].Text; (text == nil) != (c.text == "") || text != nil && *text != c.text {
			t.Errorf("%s %q: text %v", c.kind, c.message, text)
		}
		r.step(mail.DialogClosed{Gen: 1, Session: "P", Page: "T", Frame: "T", IsAccepted: c.accept, Text: c.text})
		r.step(mail.DialogHandled{Dialog: "d-1", Session: "P"})
		if len(r.closed) != 1 || r.closed[0].ClosedBy != c.by || r.closed[0].Rule != c.rule || r.closed[0].Action == "" {
			t.Errorf("%s %q: closed %+v", c.kind, c.message, r.closed)
		}
	}
}

func TestARuleLeavesADialogToAPerson(t *testing.T) {
	t.Parallel()
	rules := messages.DialogRules{{Origin: "https://*.test", Action: messages.RuleHuman}}
	r := newRuled(messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept, DialogRules: rules}, mail.DialogMemory{})
	r.opens(messages.DialogConfirm, "Delete?")
	is := func(when string) {
		t.Helper()
		if p := r.last.Pending; len(r.orders) != 0 || len(p) != 1 || p[0].WaitsFor != messages.AnswererHuman || p[0].Rule != "dialog_rules[0]" {
			t.Errorf("%s: orders %+v, pending %+v", when, r.orders, p)
		}
	}
	is("opened")
	for _, by := range []messages.Answerer{"", messages.AnswererAgent} {
		if code := r.answer(by); code != messages.CodeForbidden {
			t.Errorf("an answer by %q: %q", by, code)
		}
	}
	is("after an agent's answer")
	// Rules that change, and a new actor, take no question from a person.
	r.step(mail.SetDialogPolicy{Spec: messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept}})
	next := newRuled(messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept}, r.last.Memory)
	r.m = next.m
	r.step(mail.PageCovered{Gen: 1, Page: "T", Session: "P"})
	is("of a new actor")
	if code := r.answer(messages.AnswererHuman); code != "" {
		t.Errorf("a person's answer: %q", code)
	}
	if len(r.closed) != 1 || r.closed[0].ClosedBy != messages.ClosedByHuman || r.closed[0].Rule != "dialog_rules[0]" {
		t.Errorf("closed %+v", r.closed)
	}
}

func TestARuleHasACallerAsked(t *testing.T) {
	t.Parallel()
	r := newRuled(messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept, DialogRules: messages.DialogRules{{Action: messages.RuleAsk}}}, mail.DialogMemory{})
	r.opens(messages.DialogConfirm, "?")
	if len(r.orders) != 0 || len(r.last.Pending) != 1 || r.last.Pending[0].WaitsFor != messages.AnswererAgent {
		t.Fatalf("orders %+v, pending %+v", r.orders, r.last.Pending)
	}
	if code := r.answer(""); code != "" || r.closed[0].ClosedBy != messages.ClosedByAgent {
		t.Errorf("answered with %q, closed %+v", code, r.closed)
	}
	r.opens(messages.DialogBeforeUnload, "")
	if len(r.last.Pending) != 0 {
		t.Errorf("a rule without a type holds a beforeunload: %+v", r.last.Pending)
	}
}

// A rule's answer may be wrong for the page's next dialog: one that may have arrived is not sent
// again before the other link has shown that the dialog stands open, nor by the actor's successor.
func TestARulesAnswerIsNotSaidToAnotherDialog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec   messages.TaskSpec
		orders int // after the link of the first has died
	}{
		"a policy alone":        {messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept}, 2},
		"a rule":                {messages.TaskSpec{DialogRules: messages.DialogRules{{Action: messages.RuleAccept}}}, 1},
		"a policy beside rules": {messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept, DialogRules: messages.DialogRules{{Type: "prompt", Action: messages.RuleHuman}}}, 1},
	} {
		r := newRuled(c.spec, mail.DialogMemory{})
		r.step(mail.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"})
		r.step(mail.PageCovered{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"})
		r.opens(messages.DialogConfirm, "?")
		memory := r.last.Memory
		r.step(mail.DialogOpened{Role: messages.RoleAnchor, Gen: 1, Session: "A", Page: "T", Frame: "T", Type: messages.DialogConfirm, Message: "?", Default: "its own"})
		r.step(mail.DialogHandled{Dialog: "d-1", Session: "P", Err: linkDied})
		r.step(mail.LinkLost{Role: messages.RolePrimary, Gen: 1})
		if len(r.orders) != c.orders {
			t.Errorf("%s: %d orders, want %d: %+v", name, len(r.orders), c.orders, r.orders)
		}
		r.step(dialog.TimerFired{Name: "outcome:d-1"})
		if len(r.orders) != 2 || r.orders[1].Session != "A" || !r.orders[1].MustAccept {
			t.Errorf("%s: it stands open, and the orders are %+v", name, r.orders)
		}
		next := newRuled(c.spec, memory)
		if got := len(next.orders); got != c.orders-1 {
			t.Errorf("%s: the successor gives %d orders", name, got)
		}
	}
}
