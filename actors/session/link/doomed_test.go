package link_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// An anchor that dials anew may be asked about a dialog by the session of the link before:
// it says that it cannot, and writes nothing.
func TestAnAnchorIsAskedAboutADoomedDialog(t *testing.T) {
	t.Parallel()
	probe, move := mail.ProbeDialog{Dialog: "d-1", Session: "S", Page: "P"}, mail.MovePage{Session: "S", Page: "P"}
	attached := mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}}
	for name, c := range map[string]struct {
		before  []any
		written []string
		told    int
	}{
		"before it has a link":   {nil, nil, 2},
		"of another session":     {[]any{effect.Start{}, mail.TargetAttached{Gen: 1, Session: "T", Page: "P", Info: attached.Info}}, nil, 2},
		"of the one that it has": {[]any{effect.Start{}, attached}, []string{"Page.navigateToHistoryEntry", "Page.navigate", "Target.closeTarget"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := link.NewAnchor(link.Config{Gen: 1, Scope: messages.ScopeBrowser})
			for _, in := range c.before {
				m.Step(time.Time{}, in)
			}
			var written []string
			told := 0
			orders := []any{probe, move}
			if c.written != nil || len(c.before) == 0 {
				orders = append(orders, mail.ClosePage{Page: "P", IsAttached: true})
			}
			for _, in := range orders {
				for _, e := range m.Step(time.Time{}, in) {
					switch e := e.(type) {
					case effect.Command:
						written = append(written, e.Method)
					case effect.ToDialog:
						switch f := e.Msg.(type) {
						case mail.DialogProbed:
							told++
							wantCode(t, f.Err, messages.CodeUpstreamUnavailable)
						case mail.PageMoved:
							told++
							wantCode(t, f.Err, messages.CodeUpstreamUnavailable)
						}
					}
				}
			}
			if !slices.Equal(written, c.written) || told != c.told {
				t.Errorf("written %v, want %v; told %d, want %d", written, c.written, told, c.told)
			}
		})
	}
}

func wantCode(t *testing.T, err error, code messages.Code) {
	t.Helper()
	if messages.CodeOf(err) != code {
		t.Errorf("error %v, want %s", err, code)
	}
}
