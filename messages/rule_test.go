package messages_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"holdfast/messages"
)

func TestDialogRuleMatches(t *testing.T) {
	t.Parallel()
	d := messages.Dialog{Type: messages.DialogConfirm, Message: "Delete 3 items?", FrameURL: "https://shop.test:8443/cart?id=1"}
	for name, c := range map[string]struct {
		rule messages.DialogRule
		want bool
	}{
		"no condition":           {messages.DialogRule{}, true},
		"type":                   {messages.DialogRule{Type: "confirm"}, true},
		"another type":           {messages.DialogRule{Type: "alert"}, false},
		"origin":                 {messages.DialogRule{Origin: "https://SHOP.test:8443"}, true},
		"another port":           {messages.DialogRule{Origin: "https://shop.test"}, false},
		"another scheme":         {messages.DialogRule{Origin: "http://shop.test:8443"}, false},
		"a name below":           {messages.DialogRule{Origin: "https://*.test:8443"}, true},
		"not below itself":       {messages.DialogRule{Origin: "https://*.shop.test:8443"}, false},
		"the end of a name":      {messages.DialogRule{Origin: "https://*.op.test:8443"}, false},
		"message":                {messages.DialogRule{Message: "delete 3 items?"}, true},
		"part of it":             {messages.DialogRule{Message: "delete"}, false},
		"stars":                  {messages.DialogRule{Message: "*DELETE*items*"}, true},
		"parts in another order": {messages.DialogRule{Message: "*items*delete*"}, false},
		"end":                    {messages.DialogRule{Message: "*?"}, true},
		"beyond the end":         {messages.DialogRule{Message: "*items?*items?"}, false},
		"all of them":            {messages.DialogRule{Type: "confirm", Origin: "https://shop.test:8443", Message: "*3*"}, true},
	} {
		if got := c.rule.Matches(d); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	leaves := messages.Dialog{Type: messages.DialogBeforeUnload}
	if (messages.DialogRule{}).Matches(leaves) || !(messages.DialogRule{Type: "beforeunload"}).Matches(leaves) {
		t.Error("a beforeunload has to be named")
	}
	for _, address := range []string{"about:blank", "about:srcdoc", "data:text/html,x", "", "%", "https://user@evil.test/https://shop.test:8443"} {
		if (messages.DialogRule{Origin: "https://shop.test:8443"}).Matches(messages.Dialog{FrameURL: address}) {
			t.Errorf("%q is of the origin", address)
		}
	}
}

func TestDialogRulesAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                   "",
		`[{"action":"human"}]`: "",
		`[{"action":"accept","prompt_text":"x"},{"type":"alert","origin":"http://[::1]:8080","message":"*","action":"ask"}]`: "",
		`[{}]`:                                                                                      "dialog_rules[0]: action must be",
		`[{"action":"ask"},{"action":"x"}]`:                                                         "dialog_rules[1]: action must be",
		`[{"action":"ask","type":"x"}]`:                                                             "type must be",
		`[{"action":"ask","origin":"shop.test"}]`:                                                   "origin must be",
		`[{"action":"ask","origin":"https://shop.test/"}]`:                                          "origin must be",
		`[{"action":"ask","origin":"https://u:p@shop.test"}]`:                                       "origin must be",
		`[{"action":"ask","origin":"https://*"}]`:                                                   "origin must be",
		`[{"action":"ask","origin":"https://a.*.test"}]`:                                            "origin must be",
		`[{"action":"ask","origin":"https://shop.test:70000"}]`:                                     "origin must be",
		`[{"action":"ask","prompt_text":"x"}]`:                                                      "prompt_text goes with",
		`[{"action":"accept","type":"alert","prompt_text":"x"}]`:                                    "prompt_text goes with",
		`[{"action":"ask","message":"` + strings.Repeat("a", messages.MaxRulePattern+1) + `"}]`:     "message is longer",
		`[{"action":"accept","prompt_text":"` + strings.Repeat("a", messages.MaxRuleText+1) + `"}]`: "prompt_text is longer",
		`[` + strings.Repeat(`{"action":"ask"},`, messages.MaxDialogRules) + `{"action":"ask"}]`:    "at most 32",
	} {
		var rules messages.DialogRules
		if err := json.Unmarshal([]byte(text), &rules); err != nil {
			t.Fatal(err)
		}
		err := messages.TaskSpec{DialogRules: rules}.Validate()
		if (err == nil) != (want == "") || err != nil && (messages.CodeOf(err) != messages.CodeInvalidArgument || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
}

func TestRulesThatAreLeftOutStay(t *testing.T) {
	t.Parallel()
	had := messages.TaskSpec{DialogRules: messages.DialogRules{{Action: messages.RuleAsk}}}
	if s := had.Merge(messages.TaskSpec{}); len(s.DialogRules) != 1 {
		t.Errorf("%+v", s.DialogRules)
	}
	if s := had.Merge(messages.TaskSpec{DialogRules: messages.DialogRules{}}); len(s.DialogRules) != 0 {
		t.Errorf("%+v", s.DialogRules)
	}
	b, err := json.Marshal(messages.TaskSpec{DialogRules: messages.DialogRules{}})
	if err != nil || string(b) != `{"dialog_rules":[]}` {
		t.Errorf("%s %v", b, err)
	}
}

// FuzzDialogRule holds the matching of messages to the regular expression that a pattern means, and
// every origin that is taken to one that matches its own pages.
func FuzzDialogRule(f *testing.F) {
	f.Add("https://shop.test", "*delete*", "Delete?")
	f.Add("https://*.shop.test:8443", "a*b*c", "abbc")
	f.Add("http://[::1]:1", "**", "")
	f.Fuzz(func(t *testing.T, origin, pattern, message string) {
		rules := messages.DialogRules{{Origin: origin, Message: pattern, Action: messages.RuleAsk}}
		if rules.Validate("x") == nil && origin != "" {
			page := strings.Replace(origin, "*.", "a.", 1) + "/p?q"
			if !(messages.DialogRule{Origin: origin}).Matches(messages.Dialog{FrameURL: page}) {
				t.Errorf("%q is not of %q", page, origin)
			}
			if (messages.DialogRule{Origin: origin}).Matches(messages.Dialog{FrameURL: "https://evil.example/" + origin}) && !strings.Contains(strings.ToLower(origin), "example") {
				t.Errorf("a path is of %q", origin)
			}
		}
		lower, shown := strings.ToLower(pattern), strings.ToLower(message)
		if len(pattern) > messages.MaxRulePattern || lower == "" || strings.ToValidUTF8(lower, "") != lower || strings.ToValidUTF8(shown, "") != shown {
			return
		}
		var meant strings.Builder
		for i, part := range strings.Split(lower, "*") {
			if i > 0 {
				meant.WriteString(".*")
			}
			meant.WriteString(regexp.QuoteMeta(part))
		}
		want := regexp.MustCompile(`(?s)^` + meant.String() + `$`).MatchString(shown)
		if got := (messages.DialogRule{Message: pattern}).Matches(messages.Dialog{Message: message}); got != want {
			t.Errorf("%q like %q: %v", message, pattern, got)
		}
	})
}
