package cli_test

import (
	"testing"

	"holdfast/messages"
)

// TestCompletionNamesTasks: a shell is told the tasks of the node that runs, where a
// command wants one. It is told in variables of the process, so this test runs alone.
func TestCompletionNamesTasks(t *testing.T) {
	m := newMachine(t)
	m.node.ListFunc = func() []*messages.Snapshot {
		return []*messages.Snapshot{{TaskID: "checkout-7"}, {TaskID: "crawl-1"}}
	}
	m.serve()
	for line, want := range map[string]string{
		"holdfast snapshot ":            "checkout-7\ncrawl-1\n",
		"holdfast dialog accept che":    "checkout-7\n",
		"holdfast navigate crawl-1 ":    "",
		"holdfast task start ":          "",
		"holdfast task start --policy ": "must_respond\nauto_dismiss\nauto_accept\n",
	} {
		t.Setenv("COMP_LINE", line)
		m.env["COMP_LINE"] = line
		if out, errs := m.want(0); out != want || errs != "" {
			t.Errorf("%q: got %q, %q, want %q", line, out, errs, want)
		}
	}
	m.env["HOLDFAST_NODE"] = "http://127.0.0.1:1"
	t.Setenv("COMP_LINE", "holdfast snapshot ")
	if out, errs := m.want(0); out != "" || errs != "" {
		t.Errorf("without a node: %q, %q", out, errs)
	}
}
