package transport_test

import (
	"testing"

	"holdfast/transport"
)

func TestDo(t *testing.T) {
	t.Parallel()
	m := newBrowser(t, (*peer).echo).dial(t, transport.DialOptions{})
	for _, session := range []string{"", "S1"} {
		got, err := m.Do(within(t), "S1", "Browser.getVersion", []byte(`{"a":1}`))
		if err != nil || string(got) != `{"method":"Browser.getVersion"}` {
			t.Errorf("session %q: %s, %v", session, got, err)
		}
	}
}
