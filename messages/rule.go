package messages

import (
	"net/url"
	"strconv"
	"strings"
)

// DialogRule says what happens to the dialogs that it describes. A field that is left out is
// no condition. A rule without a type is none for beforeunload: an orphaned one cannot be
// answered any more (chromium fact C20), so it is named or left to the field beforeunload.
type DialogRule struct {
	// Type is the function that opens the dialog.
	Type DialogType `json:"type,omitempty" jsonschema:"enum=alert,enum=confirm,enum=prompt,enum=beforeunload"`
	// Origin is that of the frame that asks, such as https://shop.example or
	// https://*.shop.example:8443, where *. stands for every name below. It is no condition that a
	// frame without an address of its own (about:blank, srcdoc, data:) can meet.
	Origin string `json:"origin,omitempty"`
	// Message is a pattern for the whole message as snapshots show it: * stands for any text, also
	// for none; capital and small letters are the same. It has at most [MaxRulePattern] bytes.
	Message string `json:"message,omitempty"`
	// Action is what happens.
	Action RuleAction `json:"action"`
	// PromptText is the text that an accepted prompt gets, at most [MaxRuleText] bytes. Without it
	// that is the prompt's default text.
	PromptText *string `json:"prompt_text,omitempty"`
}

// RuleAction says what a rule does.
type RuleAction string

// What a rule does.
const (
	RuleAccept  RuleAction = "accept"  // the dialog is accepted as it opens
	RuleDismiss RuleAction = "dismiss" // the dialog is dismissed as it opens
	RuleAsk     RuleAction = "ask"     // a caller answers, whatever the task's policy says
	RuleHuman   RuleAction = "human"   // a person answers; an answer that is not said to be one is refused
)

// Bounds of the rules of a task, or of a node.
const (
	MaxDialogRules = 32
	MaxRulePattern = 512
	MaxRuleText    = 4096
	maxRuleOrigin  = 300
)

// Matches says whether the rule describes a dialog. It takes time in proportion to the message.
func (r DialogRule) Matches(d Dialog) bool {
	switch {
	case r.Type == "" && d.Type == DialogBeforeUnload, r.Type != "" && r.Type != d.Type:
		return false
	case r.Origin != "" && !hasOrigin(d.FrameURL, r.Origin):
		return false
	}
	return r.Message == "" || isLike(strings.ToLower(d.Message), strings.ToLower(r.Message))
}

// isLike says whether s is what a pattern describes. It looks for the texts between the stars from
// left to right, each once: the first place of each leaves the most for those behind it.
func isLike(s, pattern string) bool {
	first, rest, hasStar := strings.Cut(pattern, "*")
	s, ok := strings.CutPrefix(s, first)
	if !hasStar {
		return ok && s == ""
	}
	for ok {
		var part string
		if part, rest, hasStar = strings.Cut(rest, "*"); !hasStar {
			return strings.HasSuffix(s, part)
		}
		_, s, ok = strings.Cut(s, part)
	}
	return false
}

// hasOrigin says whether a page's address is of the origin that a valid rule names.
func hasOrigin(address, pattern string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	scheme, host, port, ok := splitOrigin(pattern)
	if !ok || u.Scheme != scheme || portOf(u) != port {
		return false
	}
	name := strings.ToLower(u.Hostname())
	if below, isBelow := strings.CutPrefix(host, "*"); isBelow {
		return len(name) > len(below) && strings.HasSuffix(name, below)
	}
	return name == host
}

// splitOrigin reads the origin of a rule. Host is lower case, and begins with *. where every name
// below is meant; port is never empty.
func splitOrigin(s string) (scheme, host, port string, ok bool) {
	if len(s) > maxRuleOrigin {
		return "", "", "", false
	}
	u, err := url.Parse(strings.ToLower(s))
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(s, "?#@") {
		return "", "", "", false
	}
	host = u.Hostname()
	bare := strings.TrimPrefix(host, "*.")
	isHost := bare != "" && hostShape.MatchString(bare) || strings.Contains(host, ":") && hostShape.MatchString("["+host+"]")
	if u.Scheme != "http" && u.Scheme != "https" || !isHost {
		return "", "", "", false
	}
	if port = portOf(u); strings.HasSuffix(u.Host, ":") {
		return "", "", "", false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return u.Scheme, host, port, err == nil && n > 0
}

// portOf is the port of an address, or else the one of its scheme.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	case u.Scheme == "https":
		return "443"
	}
	return ""
}

// DialogRules are looked at from the first; the first that describes a dialog holds for it.
type DialogRules []DialogRule

// First returns the rule that holds for a dialog, and its place.
func (rules DialogRules) First(d Dialog) (r DialogRule, at int, ok bool) {
	for i, r := range rules {
		if r.Matches(d) {
			return r, i, true
		}
	}
	return DialogRule{}, 0, false
}

// Validate checks the rules of a field. The error is an [*Error] with [CodeInvalidArgument] and
// names the rule.
func (rules DialogRules) Validate(field string) error {
	if len(rules) > MaxDialogRules {
		return Errorf(CodeInvalidArgument, "%s: at most %d", field, MaxDialogRules)
	}
	for i, r := range rules {
		if what := r.problem(); what != "" {
			return Errorf(CodeInvalidArgument, "%s: %s", ruleName(field, i), what)
		}
	}
	return nil
}

// problem says what is wrong with a rule, "" for nothing.
func (r DialogRule) problem() string {
	switch r.Type {
	case "", DialogAlert, DialogConfirm, DialogPrompt, DialogBeforeUnload:
	default:
		return "type must be alert, confirm, prompt or beforeunload"
	}
	switch r.Action {
	case RuleAccept, RuleDismiss, RuleAsk, RuleHuman:
	default:
		return "action must be accept, dismiss, ask or human"
	}
	if r.Origin != "" {
		if _, _, _, ok := splitOrigin(r.Origin); !ok {
			return "origin must be one of http or https without a path, such as https://shop.example or https://*.shop.example"
		}
	}
	switch {
	case len(r.Message) > MaxRulePattern:
		return "message is longer than " + strconv.Itoa(MaxRulePattern) + " bytes"
	case r.PromptText == nil:
	case r.Action != RuleAccept || r.Type != "" && r.Type != DialogPrompt:
		return "prompt_text goes with action accept, and with type prompt or none"
	case len(*r.PromptText) > MaxRuleText:
		return "prompt_text is longer than " + strconv.Itoa(MaxRuleText) + " bytes"
	}
	return ""
}

// The fields that hold rules, by which records name them.
const (
	TaskRules = "dialog_rules" // of a task's spec
	NodeRules = "node_rules"   // of the node's configuration
)

// ruleName is how records call the rule at a place of a field.
func ruleName(field string, at int) string { return field + "[" + strconv.Itoa(at) + "]" }

// RuleFor returns the rule that holds for a dialog, and its name: the node's rules come first,
// then the task's.
func (s TaskSpec) RuleFor(d Dialog) (r DialogRule, name string, ok bool) {
	if r, at, ok := s.NodeRules.First(d); ok {
		return r, ruleName(NodeRules, at), true
	}
	r, at, ok := s.DialogRules.First(d)
	return r, ruleName(TaskRules, at), ok
}
