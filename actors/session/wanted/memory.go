package wanted

import (
	"encoding/json"
	"fmt"

	"holdfast/messages"
)

// remembered is a target as another node is told of it.
type remembered struct {
	Page   messages.TargetID `json:"page,omitempty"`
	Target messages.TargetID `json:"target,omitempty"`
	Script uint64            `json:"script,omitempty"`
	Items  []rememberedItem  `json:"items"`
}

type rememberedItem struct {
	Key    string          `json:"key"`
	Act    act             `json:"act"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
	Script string          `json:"script,omitempty"`
	Site   string          `json:"site,omitempty"`
}

// Remember returns what a task wants of its pages, for [Store.Recall] of another node; nil for
// nothing.
func (s *Store) Remember() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []remembered
	for _, t := range s.state.targets {
		r := remembered{Page: t.Page, Target: t.Target, Script: t.script}
		for _, i := range t.kept {
			r.Items = append(r.Items, rememberedItem{i.key, i.act, i.method, i.params, i.script, i.site})
		}
		if len(r.Items) > 0 {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return mustJSON(all)
}

// Recall begins with what Remember has returned. It is for a store that is empty.
func (s *Store) Recall(b []byte) error {
	var all []remembered
	if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("wanted: %w", err)
	}
	if len(all) > maxTargets*MaxCommands {
		return fmt.Errorf("wanted: %d targets are too many", len(all))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range all {
		if len(r.Items) > MaxCommands || s.state.target(r.Target) != nil {
			return fmt.Errorf("wanted: target %s has %d settings, or is named twice", r.Target, len(r.Items))
		}
		t := &target{Place: Place{Page: r.Page, Target: r.Target, Session: "none"}, script: r.Script}
		for _, i := range r.Items {
			if i.Act > resetPermissions || !IsKept(i.Method) {
				return fmt.Errorf("wanted: %q is not kept", i.Method)
			}
			t.kept = append(t.kept, &item{key: i.Key, act: i.Act, method: i.Method, params: i.Params, script: i.Script, site: i.Site})
		}
		s.state.targets = append(s.state.targets, t)
	}
	return nil
}
