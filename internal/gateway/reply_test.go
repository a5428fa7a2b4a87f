package gateway

import (
	"testing"

	"holdfast/messages"
)

// TestRodIsToldDataAsText: rod ends its process at an error whose data is no text.
func TestRodIsToldDataAsText(t *testing.T) {
	t.Parallel()
	for isRod, want := range map[bool]string{
		false: `{"id":1,"error":{"code":-32000,"message":"upstream connection lost; the command was not repeated","data":{"code":"upstream_unavailable","sent":true}},"sessionId":"S"}`,
		true:  `{"id":1,"error":{"code":-32000,"message":"upstream connection lost; the command was not repeated","data":"{\"code\":\"upstream_unavailable\",\"sent\":true}"},"sessionId":"S"}`,
	} {
		c := &client{opts: Options{IsFragile: isRod}}
		if got := c.replyFrame(1, "S", nil, lostError(messages.SentYes)); string(got) != want {
			t.Errorf("rod %t: %s", isRod, got)
		}
	}
}
