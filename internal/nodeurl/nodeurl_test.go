package nodeurl_test

import (
	"strings"
	"testing"

	"holdfast/internal/nodeurl"
	"holdfast/messages"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]nodeurl.Node{
		"http://127.0.0.1:7070":      {},
		"https://node.test/holdfast": {},
		"unix:/run/h.sock":           {Socket: "/run/h.sock"},
	} {
		got, err := nodeurl.Parse(in)
		if err != nil || got.Socket != want.Socket || got.String() != in || got.Base == nil {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", "7070", "ftp://h", "http://", "http://user@h", "http://h?x", "http://h#x", "http://h:x y",
		"unix:", "unix:h.sock", "unix:/a\x00b", "unix:/" + strings.Repeat("h", 103),
	} {
		if got, err := nodeurl.Parse(in); messages.CodeOf(err) != messages.CodeInvalidArgument {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
	if s := (nodeurl.Node{}).String(); s != "" {
		t.Errorf("nowhere is %q", s)
	}
}
