package messages_test

import (
	"strings"
	"testing"

	"holdfast/messages"
)

func TestBlockerPoliciesAreChecked(t *testing.T) {
	t.Parallel()
	for body, wrong := range map[string]string{
		`{}`: "", `{"permission":"accept","print":"dismiss","file_chooser":"browser","certificate":"accept"}`: "",
		`{"certificate":"dismiss"}`: "certificate", `{"file_chooser":"accept"}`: "file_chooser",
		`{"permission":"yes"}`: "permission", `{"print":"accept"}`: "print", `{"pdf":"ask"}`: "pdf",
	} {
		var s messages.TaskSpec
		err := messages.DecodeStrict(strings.NewReader(`{"blockers":`+body+`}`), &s)
		if err == nil {
			err = s.Validate()
		}
		if wrong == "" && err != nil || wrong != "" && (messages.CodeOf(err) != messages.CodeInvalidArgument || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: %v", body, err)
		}
	}
	had := messages.TaskSpec{Blockers: messages.AskAboutBlockers()}
	if s := had.Merge(messages.TaskSpec{}); s.Blockers.Of(messages.BlockerPrint) != messages.BlockersAsk {
		t.Error("a change of something else takes the policies away")
	}
	var none *messages.BlockerPolicies
	if none.Of(messages.BlockerPermission) != messages.BlockersLeave || none.Of(messages.BlockerPDF) != messages.BlockersAsk {
		t.Error("other defaults")
	}
}

func TestAnErrorPageIsABlocker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status      int
		about, code string
		want        messages.BlockerType
	}{
		{401, "", "HTTP ERROR 401", messages.BlockerBasicAuth},
		{0, "", "net::ERR_INVALID_AUTH_CREDENTIALS", messages.BlockerBasicAuth},
		{0, "SSL", "net::ERR_CERT_DATE_INVALID", messages.BlockerCertificate},
		{0, "", "ERR_CERT_AUTHORITY_INVALID", messages.BlockerCertificate},
		{404, "", "HTTP ERROR 404", ""},
		{0, "", "net::ERR_CONNECTION_REFUSED", ""},
	} {
		if got := messages.BlockerOf(c.status, c.about, c.code); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
