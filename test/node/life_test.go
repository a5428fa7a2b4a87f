package node_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// The reply goes past every mailbox, and the sign of life by way of two: the word
// that the page hangs may outlive the first success.
func TestNoCallIsRefusedBehindASuccess(t *testing.T) {
	t.Parallel()
	inWorld(t, "the probe's reply is late", chaos.Options{Pages: 1}, func(w *world) {
		probe := -1
		w.between = func(down bool, message []byte) bool {
			var m struct{ ID int }
			switch _ = json.Unmarshal(message, &m); {
			case down && bytes.Contains(message, []byte(`"silent":true`)):
				probe = m.ID
			case !down && m.ID == probe:
				time.Sleep(time.Second)
			}
			return true
		}
		page := w.start("t", everything, alone).PageTargetID
		w.b.Spin(page)
		call := w.evaluate(30)
		w.becomes(page, messages.PageHung, time.Second)
		w.b.Unspin(page)
		if got := <-call; got.err != nil {
			t.Fatal(got.err)
		}
		if got := <-w.evaluate(30); got.err != nil {
			t.Errorf("behind a success: %v", got.err)
		}
		w.becomes(page, messages.PageOK, 500*time.Millisecond) // before the probe's reply
	})
}
