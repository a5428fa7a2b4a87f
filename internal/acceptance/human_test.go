package acceptance_test

import (
	"testing"

	"holdfast/internal/tools"
	"holdfast/messages"
)

// TestD32_APersonAnswersAnAgent: the question stands in the task's state until a person answers it,
// the agent's call waits no longer than it may, and no agent answers for a person.
func TestD32_APersonAnswersAnAgent(t *testing.T) {
	t.Parallel()
	h := setup(t).task("d32").hands()
	for _, c := range []struct {
		action messages.Action
		text   string
		want   string
	}{
		{messages.ActionAccept, "4711", "accept"},
		{messages.ActionDismiss, "", "decline"},
	} {
		got := make(chan *messages.ToolResult, 1)
		go func() { got <- h.try("browser_request_human", `{"reason":"the code of the text message"}`) }()
		b := h.blocker(messages.BlockerHuman)
		if b.Message != "the code of the text message" || b.ExpiresAt <= b.OpenedAt {
			t.Errorf("%+v", b)
		}
		_, err := h.node.AnswerBlocker(h.ctx, h.id, messages.BlockerAnswer{BlockerID: b.ID, Action: messages.ActionAccept})
		wantCode(t, err, messages.CodeForbidden)
		if r := h.try("browser_blocker", `{"action":"accept","blocker_id":"`+string(b.ID)+`"}`); r.Code != messages.CodeForbidden {
			t.Errorf("%+v", r)
		}
		h.visit(h.site.URL("http://a.test/plain")) // the question outlives the page
		answer := messages.BlockerAnswer{BlockerID: b.ID, Action: c.action, By: messages.AnswererHuman, Text: c.text}
		if _, err := h.node.AnswerBlocker(h.ctx, h.id, answer); err != nil {
			t.Fatal(err)
		}
		_, err = h.node.AnswerBlocker(h.ctx, h.id, answer)
		wantCode(t, err, messages.CodeDialogAlreadyAnswered)
		r := <-got
		want := tools.HumanAnswer{Action: c.want, Answer: c.text, By: messages.ClosedByHuman, BlockerID: b.ID}
		if !r.OK || r.Data != any(want) {
			t.Errorf("%s %s: %+v, want %+v", r.Code, r.Text, r.Data, want)
		}
	}
	if r := h.use("browser_request_human", `{"reason":"hurry","timeout_s":1}`); r.Text != "No person answered in time." {
		t.Errorf("%+v", r)
	}
	h.unblocked()
}
