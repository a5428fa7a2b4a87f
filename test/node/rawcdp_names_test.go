package node_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdfast/chaos"
	"holdfast/messages"
)

// A target is named by Chrome's spelling alone: no other one reaches another
// task's page, or is let through unread.
func TestForeignTargetByItsSpelling(t *testing.T) {
	inWorld(t, "spelling", chaos.Options{Pages: 1}, func(w *world) {
		a, b := w.start("a", own), w.start("b", own)
		foreign, mine := string(b.PageTargetID), string(a.PageTargetID)
		for params, want := range map[string]messages.Code{
			`{"targetId":"` + foreign + `"}`:                                messages.CodeTargetForeign,
			`{"targetId":"` + foreign + `","targetid":1}`:                   messages.CodeInvalidArgument,
			`{"targetId":"` + foreign + `","TargetId":"` + mine + `"}`:      messages.CodeInvalidArgument,
			`{"targetId":"` + foreign + `","targetId":"` + mine + `"}`:      messages.CodeInvalidArgument,
			`{"targetId":"` + mine + `","\u0074argetId":"` + foreign + `"}`: messages.CodeInvalidArgument,
			`{"targetId":5}`:              messages.CodeInvalidArgument,
			`{"targetId":"` + mine + `"}`: "",
		} {
			for _, method := range []string{"Target.getTargetInfo", "Target.activateTarget"} {
				_, err := w.node.CDP(w.Context(), "a", messages.CDPRequest{Method: method, Params: json.RawMessage(params)})
				if got := messages.CodeOf(err); got != want {
					w.Errorf("%s %s: %v, want %q", method, params, err, want)
				}
			}
		}
	})
}

// What the node checks is what the browser acts on, for whatever members the
// parameters have: the fake reads exact names, and of repeated ones the last.
func TestCheckedTargetIsTheOneActedOn(t *testing.T) {
	t.Parallel()
	w := open(t, chaos.Options{Pages: 1}) // outside a bubble, where rapid asks for the deadline
	a, b := w.start("a", own), w.start("b", own)
	names := rapid.SampledFrom([]string{"targetId", "targetid", "TargetId", "TARGETID", `\u0074argetId`, "targetId ", "x", "browserContextId"})
	values := rapid.SampledFrom([]string{
		`"` + string(a.PageTargetID) + `"`, `"` + string(b.PageTargetID) + `"`, `"none"`, `""`, `1`, `null`, `{"targetId":"` + string(b.PageTargetID) + `"}`,
	})
	rapid.Check(t, func(t *rapid.T) {
		var members []string
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			members = append(members, `"`+names.Draw(t, "name")+`":`+values.Draw(t, "value"))
		}
		params := "{" + strings.Join(members, ",") + "}"
		result, err := w.node.CDP(w.Context(), "a", messages.CDPRequest{Method: "Target.getTargetInfo", Params: json.RawMessage(params)})
		if err != nil {
			if messages.CodeOf(err) == messages.CodeInternal {
				t.Fatalf("%s: %v", params, err)
			}
			return
		}
		var info struct {
			Target struct {
				ID   messages.TargetID `json:"targetId"`
				Type string            `json:"type"`
			} `json:"targetInfo"`
		}
		if err := json.Unmarshal(result.Result, &info); err != nil {
			t.Fatal(err)
		}
		if info.Target.Type == "page" && info.Target.ID != a.PageTargetID {
			t.Fatalf("%s acted on %s, which is not the task's %s", params, info.Target.ID, a.PageTargetID)
		}
	})
}

// A scoped token runs what is on the list.
func TestScopedCallersRunWhatIsListed(t *testing.T) {
	inWorld(t, "scoped", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		scoped := messages.WithCaller(w.ctx, messages.Caller{IsScoped: true})
		for method, want := range map[string]messages.Code{
			"Network.getCookies": "", "Future.method": messages.CodeForbidden, "SystemInfo.getInfo": messages.CodeForbidden,
			"DOM.setFileInputFiles": messages.CodeForbidden, "Browser.close": messages.CodeForbidden,
		} {
			_, err := w.node.CDP(scoped, "t", messages.CDPRequest{Method: method})
			if got := messages.CodeOf(err); got != want {
				w.Errorf("%s: %v, want %q", method, err, want)
			}
		}
		_, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Future.method"})
		w.want(messages.CodeCDPError, err) // the browser's to refuse
	})
}
