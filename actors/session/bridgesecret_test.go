package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"holdfast/actors/session"
)

// TestTheBridgesSecretDoesNotPrint: whoever knows it could answer a page's dialogs.
func TestTheBridgesSecretDoesNotPrint(t *testing.T) {
	t.Parallel()
	s := session.NewBridgeSecret(secret)
	in := struct{ hidden session.BridgeSecret }{s}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("said", "secret", s, "config", session.Bridge{Secret: s}, "in", in)
	asJSON, err := json.Marshal(session.Bridge{Secret: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q %x", s, s, s, s, s, s),
		fmt.Sprintf("%v %+v %#v", in, in, in), fmt.Sprintf("%+v", session.Bridge{Secret: s}), string(asJSON), log.String(),
	} {
		if strings.Contains(text, secret[:8]) || strings.Contains(text, fmt.Sprintf("%x", secret[:8])) {
			t.Errorf("printed: %s", text)
		}
	}
}
