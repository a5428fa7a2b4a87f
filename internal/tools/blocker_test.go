package tools_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/messages"
)

// TestAPermissionThatTheBrowserRefusesIsNotGranted has a browser that grants after a while, and one
// that never does.
func TestAPermissionThatTheBrowserRefusesIsNotGranted(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"late": time.Second, "never": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, n := time.Now(), node()
				snap := pages("one", "A")
				snap.Blockers = []messages.Blocker{{ID: "b-1", Type: messages.BlockerPermission, Permission: "camera,microphone", TargetID: "A", FrameID: "A"}}
				n.SnapshotFunc = func(messages.TaskID, messages.SnapshotOptions) (*messages.Snapshot, error) { return snap, nil }
				n.CDPFunc = func(r messages.CDPRequest) (messages.CDPResult, error) {
					lacking := `["microphone"]`
					if time.Since(began) >= after {
						lacking = `[]`
					}
					return messages.CDPResult{Result: json.RawMessage(`{"executionContextId":7,"result":{"type":"object","value":` + lacking + `}}`)}, nil
				}
				r := call(t, n, "browser_blocker", `{"action":"accept"}`)
				if name == "late" && (!r.OK || !strings.Contains(r.Text, "Granted to the site: camera,microphone")) {
					t.Errorf("%+v", r)
				}
				if name == "never" && (r.Code != messages.CodeCDPError || !strings.Contains(r.Text, "did not grant microphone")) {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}
