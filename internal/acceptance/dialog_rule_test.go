package acceptance_test

import (
	"encoding/json"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

func TestD31_RulesDecideOverDialogs(t *testing.T) {
	t.Parallel()
	typed := "by a rule"
	r := setupOn(t, chromiumtest.Shared(t), func(c *node.Config) {
		c.DialogRules, c.IsAudited = messages.DialogRules{{Message: "*launch*", Action: messages.RuleDismiss}}, true
	})
	k := r.task("d31", policy(messages.PolicyAutoDismiss))
	k.goTo("http://a.test/plain")
	// They change while the task runs.
	change := func(to func(*messages.TaskSpec)) {
		t.Helper()
		spec := k.spec()
		to(&spec)
		if _, started, err := k.node.GetOrStart(k.ctx, k.id, spec); err != nil || started {
			t.Fatalf("started %v, %v", started, err)
		}
	}
	origin := k.snapshot().FrameTree.Top.Origin
	_, port, _ := strings.Cut(origin, ".test")
	change(func(s *messages.TaskSpec) {
		s.DialogPolicy, s.DialogRules = messages.PolicyAutoDismiss, messages.DialogRules{
			{Origin: "http://*.test" + port, Message: "delete *?", Action: messages.RuleHuman},
			{Origin: "http://other.test" + port, Action: messages.RuleAccept},
			{Type: messages.DialogPrompt, Origin: origin, Action: messages.RuleAccept, PromptText: &typed},
			{Type: messages.DialogConfirm, Message: "keep*", Action: messages.RuleAccept},
		}
	})

	if got := k.eval("", "[prompt('name?'), confirm('Keep it?'), confirm('launch: keep it?'), confirm('other')]"); got != `["by a rule",true,false,false]` {
		t.Errorf("the page received %s", got)
	}
	for id, want := range map[messages.DialogID]messages.ClosedDialog{
		"d-1": {ClosedBy: messages.ClosedByRule, Rule: "dialog_rules[2]", Action: messages.ActionAccept},
		"d-2": {ClosedBy: messages.ClosedByRule, Rule: "dialog_rules[3]", Action: messages.ActionAccept},
		"d-3": {ClosedBy: messages.ClosedByRule, Rule: "node_rules[0]", Action: messages.ActionDismiss},
		"d-4": {ClosedBy: messages.ClosedByAutoPolicy, Action: messages.ActionDismiss},
	} {
		if c := k.closed(id); c.ClosedBy != want.ClosedBy || c.Rule != want.Rule || c.Action != want.Action {
			t.Errorf("%s: %+v, want %+v", id, c, want)
		}
	}
	if n := k.log.lines("level=INFO", "msg=audit", "who=rule", "rule=dialog_rules[2]", "dialog=d-1"); n != 1 {
		t.Errorf("%d lines of a rule's decision in the log:\n%s", n, k.log)
	}

	k.later("", "window.got = confirm('Delete 3 files?')")
	d := k.dialog()
	if d.WaitsFor != messages.AnswererHuman || d.Rule != "dialog_rules[0]" {
		t.Errorf("%+v", d)
	}
	refused := func(what string, err error) {
		t.Helper()
		if messages.CodeOf(err) != messages.CodeForbidden {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept})
	refused("an agent's answer", err)
	_, err = k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Page.handleJavaScriptDialog", Params: json.RawMessage(`{"accept":true}`)})
	refused("raw CDP", err)
	c, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, By: messages.AnswererHuman})
	if err != nil || c.ClosedBy != messages.ClosedByHuman || c.Rule != d.Rule {
		t.Errorf("a person's answer: %+v %v", c, err)
	}
	if got := k.eval("", "window.got"); got != "true" {
		t.Errorf("the page received %s", got)
	}

	// Over the bridge too.
	change(func(s *messages.TaskSpec) {
		s.DialogPolicy, s.Bridge = messages.PolicyMustRespond, messages.BridgeOn
		s.DialogRules = messages.DialogRules{{Origin: origin, Action: messages.RuleAccept}}
	})
	k.await("the bridge", func(s *messages.Snapshot) bool {
		return s.Connection.Bridge == messages.BridgeOn && s.Pages[0].Bridge == messages.BridgeOn
	})
	if got := k.eval("", "confirm('Delete 3 files?')"); got != "true" {
		t.Errorf("over the bridge the page received %s", got)
	}
	if c := k.closed("d-6"); c.ClosedBy != messages.ClosedByRule || c.Path != messages.PathBridge || c.Rule != "dialog_rules[0]" {
		t.Errorf("over the bridge: %+v", c)
	}
}
