package tools_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"holdfast/internal/artifact"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// helpless are the failures after which no call of a tool helps as it is: the caller has to change
// what it asks, or its token, or the operator something.
var helpless = []messages.Code{
	messages.CodeInvalidArgument, messages.CodeUnauthorized, messages.CodeForbidden, messages.CodeNotFound, messages.CodeClientNotFound, messages.CodeTargetForeign,
	messages.CodeCDPError, messages.CodeScriptError, messages.CodeMessageTooLarge, messages.CodeLimitReached, messages.CodeWrongCluster, messages.CodeInternal,
}

// TestW13_NextActionsAreCallsThatWork: every failure has a category of its own kind (W12), and what
// its next actions name is taken as it stands.
func TestW13_NextActionsAreCallsThatWork(t *testing.T) {
	t.Parallel()
	files, err := artifact.New(t.TempDir(), artifact.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	dialog := messages.Dialog{ID: "d-4", Type: messages.DialogConfirm, Message: "sure?", TargetID: "A"}
	for _, code := range messages.Codes() {
		n := node()
		n.CDPFunc = func(messages.CDPRequest) (messages.CDPResult, error) {
			return messages.CDPResult{}, messages.Errorf(code, "no")
		}
		snap := pages("one", "A", "B")
		snap.PendingDialogs = []messages.Dialog{dialog}
		n.SnapshotFunc = func(messages.TaskID, messages.SnapshotOptions) (*messages.Snapshot, error) { return snap, nil }
		r := call(t, n, "browser_evaluate", `{"expression":"1","tab":"t1"}`)
		if r.Code != code || r.Category == "" || r.Category == "completed" {
			t.Errorf("%s: %+v", code, r)
		}
		if isHelpless := slices.Contains(helpless, code); isHelpless != (len(r.NextActions) == 0) {
			t.Errorf("%s has the next actions %+v", code, r.NextActions)
		}
		for _, a := range r.NextActions {
			input, err := json.Marshal(a.Input)
			if err != nil {
				t.Fatal(err)
			}
			tool, ok := tools.Lookup(a.Tool)
			if !ok {
				t.Errorf("%s: there is no tool %s", code, a.Tool)
				continue
			}
			var schema jsonschema.Schema
			var given any
			if err := json.Unmarshal(tool.Input, &schema); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(input, &given); err != nil {
				t.Fatal(err)
			}
			resolved, err := schema.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := resolved.Validate(given); err != nil {
				t.Errorf("%s: %s does not take %s: %v", code, a.Tool, input, err)
			}
			if a.Tool == "browser_snapshot" {
				continue // it needs a page, and is run on real ones
			}
			done := tools.New(node(), nil).WithArtifacts(files).Call(t.Context(), tools.Caller{}, "one", a.Tool, input)
			if !done.OK {
				t.Errorf("%s: %s %s: %+v", code, a.Tool, input, done)
			}
		}
	}
}
