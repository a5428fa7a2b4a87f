package messages_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"holdfast/messages"
)

func TestError(t *testing.T) {
	t.Parallel()
	base := messages.Errorf(messages.CodeNoDialog, "no dialog on %s", "p")
	detailed := base.With("a", 1).With("b", 2)
	if len(base.Details) != 0 || len(detailed.Details) != 2 {
		t.Errorf("details %v and %v", base.Details, detailed.Details)
	}
	if !errors.Is(detailed, &messages.Error{Code: messages.CodeNoDialog}) || errors.Is(detailed, &messages.Error{Code: messages.CodeDeadline}) {
		t.Error("an error is its code, and only that")
	}
	if messages.CodeOf(errors.New("x")) != messages.CodeInternal || messages.CodeOf(nil) != "" {
		t.Error("the code of a foreign error, or of none")
	}
}

func TestSpecLimits(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]messages.TaskSpec{
		"scope":                  {Scope: "everything"},
		"target without an id":   {Scope: messages.ScopeTarget},
		"id without target":      {TargetID: "T", Scope: messages.ScopeOwn},
		"policy":                 {DialogPolicy: "maybe"},
		"timeout too short":      {DialogTimeoutS: 0.01},
		"timeout too long":       {DialogTimeoutS: 1e300},
		"timeout not a number":   {DialogTimeoutS: math.NaN()},
		"life below zero":        {MaxLifeS: -1},
		"queue below zero":       {QueueTimeoutS: float(-1)},
		"queue for ever":         {QueueTimeoutS: float(300.1)},
		"queue of no number":     {QueueTimeoutS: float(math.NaN())},
		"too many labels":        {Labels: many(messages.MaxLabels + 1)},
		"a label with a newline": {Labels: map[string]string{"a": "b\n"}},
		"threshold too long":     {BridgeThresholdMS: 10001},
		"threshold negative":     {BridgeThresholdMS: -1},
		"bad bridge":             {Bridge: "onn"},
	} {
		if err := s.Validate(); messages.CodeOf(err) != messages.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d := (messages.TaskSpec{DialogTimeoutS: 2.5}).DialogTimeout(); d != 2500*time.Millisecond {
		t.Errorf("timeout %s", d)
	}
}

func many(n int) map[string]string {
	m := map[string]string{}
	for i := range n {
		m["k"+strings.Repeat("x", i)] = "v"
	}
	return m
}

func TestSnapshotOmitsWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	dead, err := json.Marshal(messages.Snapshot{State: messages.StateLost})
	if err != nil {
		t.Fatal(err)
	}
	living, err := json.Marshal(messages.Snapshot{PendingDialogs: []messages.Dialog{}, RecentDialogs: []messages.ClosedDialog{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"pending_dialogs", "recent_dialogs"} {
		if strings.Contains(string(dead), field) || !strings.Contains(string(living), `"`+field+`":[]`) {
			t.Errorf("%s: dead %s, living %s", field, dead, living)
		}
	}
}

func TestRequestLimits(t *testing.T) {
	t.Parallel()
	for _, r := range []messages.CDPRequest{
		{Method: "evaluate"},
		{Method: "Page."},
		{Method: "Page.a b"},
		{Method: "Page.x", Params: []byte(`[]`)},
		{Method: "Page.x", Params: []byte(`{`)},
		{Method: "Page.x", FrameID: "a/b"},
		{Method: "Page.x", TimeoutS: 301},
	} {
		if messages.CodeOf(r.Validate()) != messages.CodeInvalidArgument {
			t.Errorf("%+v is taken", r)
		}
	}
	if err := (messages.CDPRequest{Method: "Page.x", Params: []byte(" {}")}).Validate(); err != nil {
		t.Error(err)
	}
	if err := (messages.DialogAnswer{Action: "maybe"}).Validate(); messages.CodeOf(err) != messages.CodeInvalidArgument {
		t.Errorf("action maybe: %v", err)
	}
}

// TestBodiesAreReadByExactKeys, and what is wrong with one is said in JSON's words.
func TestBodiesAreReadByExactKeys(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`[]`:                                     "the JSON must be an object",
		`"planted"`:                              "the JSON must be an object",
		`{"cdp_url":5}`:                          `"cdp_url" must be a string`,
		`{"cdp_url":""}`:                         "cdp_url is empty: leave it out to have a browser launched",
		`{"scope":["planted"]}`:                  `"scope" must be a string`,
		`{"dialog_timeout_s":"planted"}`:         `"dialog_timeout_s" must be a number`,
		`{"bridge_threshold_ms":1.5}`:            `"bridge_threshold_ms" must be a whole number`,
		`{"labels":"planted"}`:                   `"labels" must be an object`,
		`{"launch":{"headless":"planted"}}`:      `launch: "headless" must be true or false`,
		`{"launch":{"Headless":true}}`:           `"Headless" is spelled headless`,
		`{"launch":{"headless":1,"headless":2}}`: `"headless" is there twice`,
		`{"SCOPE":"own"}`:                        `"SCOPE" is spelled scope`,
		`{"\u017fcope":"own"}`:                   "\"\u017fcope\" is spelled scope",
		`{"scope":"own","scope":"browser"}`:      `"scope" is there twice`,
		`{"scope":"own","\u0073cope":"own"}`:     `"scope" is there twice`,
		`{"labels":{"a":"1","a":"2"}}`:           `"a" is there twice`,
		`{"scopes":"planted"}`:                   `unknown field "scopes"`,
		`{"scope":"own"`:                         "the JSON ends too early",
		`{"scope":"own"} {}`:                     "more than one JSON value",
		`{"scope":own}`:                          "malformed JSON at byte 10",
	} {
		var s messages.TaskSpec
		err := messages.DecodeStrict(strings.NewReader(body), &s)
		own, ok := errors.AsType[*messages.Error](err)
		if !ok || own.Code != messages.CodeInvalidArgument || own.Message != want || strings.Contains(own.Message, "planted") {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
	for _, body := range []string{`{}`, `null`, ` {"scope":"own","labels":{"a":"1","A":"2"},"launch":true,"cdp_url":null} `} {
		var s messages.TaskSpec
		if err := messages.DecodeStrict(strings.NewReader(body), &s); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}
