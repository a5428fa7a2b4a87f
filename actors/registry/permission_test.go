package registry_test

import (
	"testing"

	"holdfast/actors/registry"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A scoped token takes no pages of others, by whatever the spec says.
func TestScopedTokensTakeNoPagesOfOthers(t *testing.T) {
	t.Parallel()
	var (
		task   = messages.Caller{IsScoped: true}
		tenant = messages.Caller{IsScoped: true, Tenant: "acme"}
		admin  messages.Caller
	)
	browser := func(s messages.TaskSpec) messages.TaskSpec { s.Scope = messages.ScopeBrowser; return s }
	target := func(s messages.TaskSpec) messages.TaskSpec {
		s.Scope, s.TargetID = messages.ScopeTarget, "T"
		return s
	}
	shared := func(s messages.TaskSpec) messages.TaskSpec { s.Isolation = messages.IsolationShared; return s }
	local, err := messages.ParseCDPURL("http://localhost:1")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		id       messages.TaskID
		caller   messages.Caller
		spec     messages.TaskSpec
		override bool
		refused  bool
	}{
		"a task token raises its scope":             {"acme:a", task, browser(at(1)), false, true},
		"and names a target":                        {"acme:a", task, target(at(1)), false, true},
		"and another browser":                       {"acme:a", task, at(3), false, true},
		"and another context":                       {"acme:a", task, shared(messages.TaskSpec{}), false, true},
		"and a launch":                              {"acme:a", task, messages.TaskSpec{Launch: &messages.LaunchSpec{}}, false, true},
		"a task token says the same":                {"acme:a", task, at(1), false, false},
		"and nothing of it":                         {"acme:a", task, messages.TaskSpec{DialogTimeoutS: 3}, false, false},
		"a tenant's raises it beside others":        {"acme:a", tenant, browser(at(1)), false, true},
		"by another name of the machine":            {"acme:a", tenant, browser(messages.TaskSpec{CDPURL: local}), false, true},
		"a tenant's takes a browser of its own":     {"acme:a", tenant, browser(at(2)), false, false},
		"a tenant's starts a task on others'":       {"acme:new", tenant, target(at(1)), false, true},
		"and on its own":                            {"acme:new", tenant, target(at(2)), false, false},
		"a task token starts one on others'":        {"acme:new", task, browser(at(2)), false, true},
		"and on one that is free":                   {"acme:new", task, browser(at(9)), false, false},
		"and a tab of its own":                      {"acme:new", task, at(1), false, false},
		"and launches":                              {"acme:new", task, messages.TaskSpec{}, false, false},
		"under an override it takes no whole one":   {"acme:new", task, messages.TaskSpec{Scope: messages.ScopeBrowser}, true, true},
		"and no target":                             {"acme:new", tenant, target(messages.TaskSpec{}), true, true},
		"and a tab of its own there":                {"acme:new", tenant, messages.TaskSpec{}, true, false},
		"the admin's may all":                       {"acme:a", admin, browser(at(1)), false, false},
		"the admin's may all, also by the override": {"acme:new", admin, messages.TaskSpec{Scope: messages.ScopeBrowser}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var override messages.CDPURL
			if c.override {
				override = at(1).CDPURL
			}
			m := registry.NewMachine(messages.Limits{MaxTasks: 10, MaxBrowsers: 10}, override)
			b := &bench{T: t, m: m}
			for id, spec := range map[messages.TaskID]messages.TaskSpec{"acme:a": at(1), "acme:b": at(2), "other:x": at(1)} {
				b.step(1, mail.StartTask{ID: id, Spec: spec, Reply: b.reply("first")})
			}
			var got error
			b.step(2, mail.StartTask{ID: c.id, Spec: c.spec.Normalized(), Caller: c.caller, Reply: calls.Open(func(_ any, err error) { got = err })})
			if refused := messages.CodeOf(got) == messages.CodeForbidden; refused != c.refused {
				t.Errorf("refused: %t (%v), want %t", refused, got, c.refused)
			}
		})
	}
}
