package api_test

import (
	"testing"

	"holdfast/internal/api/apitest"
	"holdfast/messages"
)

// TestABodyThatIsMissingIsSaidToBe, and one that holds no JSON is not.
func TestABodyThatIsMissingIsSaidToBe(t *testing.T) {
	t.Parallel()
	b := setup(t, &apitest.Node{})
	for body, isMissing := range map[string]bool{"": true, " ": false, "{": false, "nil": false} {
		err := b.wantError(b.call("POST", "/v1/tasks/one/cdp", body), 400, messages.CodeInvalidArgument)
		if got := err.Message == "the body is missing"; got != isMissing {
			t.Errorf("%q: %s", body, err.Message)
		}
	}
}
