package bridge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/sessiontest"
)

// TestTheBridgesSecretDoesNotPrint: a page that knows it could answer dialogs.
func TestTheBridgesSecretDoesNotPrint(t *testing.T) {
	t.Parallel()
	s := bridge.NewSecret(sessiontest.Secret)
	in := struct{ hidden bridge.Secret }{s}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("said", "secret", s, "config", bridge.Settings{Secret: s}, "in", in)
	asJSON, err := json.Marshal(bridge.Settings{Secret: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q %x", s, s, s, s, s, s),
		fmt.Sprintf("%v %+v %#v", in, in, in), fmt.Sprintf("%+v", bridge.Settings{Secret: s}), string(asJSON), log.String(),
	} {
		if strings.Contains(text, sessiontest.Secret[:8]) || strings.Contains(text, fmt.Sprintf("%x", sessiontest.Secret[:8])) {
			t.Errorf("printed: %s", text)
		}
	}
}
