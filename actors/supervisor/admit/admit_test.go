package admit_test

import (
	"bufio"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdfast/actors/supervisor/admit"
	"holdfast/messages"
)

var (
	alert   = []messages.Dialog{{ID: "d1", Type: "alert"}}
	another = []messages.Dialog{{ID: "d2", Type: "confirm"}}
)

// TestCommand is the table of what may run on a page in each state.
func TestCommand(t *testing.T) {
	t.Parallel()
	const (
		ok      = messages.Code("")
		blocked = messages.CodeBlockedByDialog
		wedged  = messages.CodePageWedged
		crashed = messages.CodePageCrashed
	)
	for name, c := range map[string]struct {
		known admit.Known
		want  map[string]messages.Code
	}{
		"a page that answers": {admit.Known{}, map[string]messages.Code{
			"Runtime.evaluate": ok, "Page.navigate": ok, "Page.reload": ok, "Input.dispatchMouseEvent": ok, "Future.method": ok,
		}},
		"its own dialog is open (M8, M9)": {admit.Known{State: messages.PageOK, Blocking: alert, PageDialogs: alert}, map[string]messages.Code{
			"Runtime.evaluate": blocked, "DOM.getDocument": blocked, "Page.captureScreenshot": blocked, "Input.insertText": blocked,
			"Page.navigate": blocked, "Page.reload": blocked, "Page.navigateToHistoryEntry": blocked, "Page.crash": blocked,
			"Runtime.terminateExecution": blocked, "Input.dispatchMouseEvent": ok, "Target.getTargetInfo": ok, "Network.getCookies": ok, "Page.getNavigationHistory": ok,
		}},
		"a dialog of another process on the page (C7)": {admit.Known{PageDialogs: alert}, map[string]messages.Code{
			"Runtime.evaluate": ok, "Page.navigate": blocked, "Page.crash": blocked,
		}},
		"a bridged dialog (C47)": {admit.Known{State: messages.PageOK, Paused: alert, PageDialogs: alert}, map[string]messages.Code{
			"Runtime.evaluate": ok, "Debugger.resume": blocked, "Debugger.disable": blocked, "Runtime.terminateExecution": blocked, "Page.navigate": blocked,
		}},
		"a dialog of another page holds it (C59)": {admit.Known{State: messages.PageDialog, Shared: another}, map[string]messages.Code{
			"Runtime.evaluate": blocked, "Page.navigate": ok, "Target.getTargetInfo": ok,
		}},
		"a dialog of another task holds it (C59)": {admit.Known{State: messages.PageBlockedElsewhere}, map[string]messages.Code{
			"Runtime.evaluate": wedged, "Target.getTargetInfo": ok,
		}},
		"nobody can answer its dialog (C17)": {admit.Known{State: messages.PageDialogUnreachable}, map[string]messages.Code{
			"Runtime.evaluate": wedged, "Target.getTargetInfo": ok, "Page.navigate": ok,
		}},
		"poisoned (C15)": {admit.Known{IsPoisoned: true}, map[string]messages.Code{
			"Runtime.evaluate": wedged, "Target.getTargetInfo": wedged, "Page.navigate": wedged,
		}},
		"crashed (M13)": {admit.Known{State: messages.PageCrashed}, map[string]messages.Code{
			"Runtime.evaluate": crashed, "Input.dispatchMouseEvent": crashed, "Page.navigate": ok, "Page.reload": ok, "Target.getTargetInfo": ok, "Inspector.enable": ok,
		}},
		"hung": {admit.Known{State: messages.PageHung}, map[string]messages.Code{
			"Runtime.evaluate": wedged, "Page.reload": wedged, "Runtime.terminateExecution": ok, "Page.navigate": ok, "Target.getTargetInfo": ok,
		}},
		"stranded (C58)": {admit.Known{State: messages.PageHung, IsStranded: true}, map[string]messages.Code{
			"Runtime.evaluate": wedged, "Page.reload": wedged, "Page.navigate": ok,
		}},
		"paused in a debugger": {admit.Known{State: messages.PagePaused}, map[string]messages.Code{"Runtime.evaluate": ok, "Debugger.resume": ok}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for method, code := range c.want {
				if v := admit.Command(c.known, method); messages.CodeOf(v.Error()) != code {
					t.Errorf("%s: %v, want %q", method, v.Error(), code)
				}
			}
			for _, method := range []string{"Page.close", "Target.closeTarget", "Target.createTarget", "Page.handleJavaScriptDialog", "Target.getTargets"} {
				if v := admit.Command(c.known, method); v.Action != admit.Own {
					t.Errorf("%s is not the node's to carry out: %+v", method, v)
				}
			}
		})
	}
}

// TestCommandNamesTheCure: the refusal says which dialogs are to be answered, or which
// recovery brings the page back.
func TestCommandNamesTheCure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known   admit.Known
		says    string
		dialogs []messages.Dialog
	}{
		"its own dialog":      {admit.Known{Blocking: alert, PageDialogs: alert}, "answer it first", alert},
		"another page's":      {admit.Known{State: messages.PageDialog, Shared: another}, "answer it first", another},
		"another task's":      {admit.Known{State: messages.PageBlockedElsewhere}, "answers again by itself", nil},
		"crashed":             {admit.Known{State: messages.PageCrashed}, "recover with reload, or navigate", nil},
		"hung":                {admit.Known{State: messages.PageHung}, "recover with reload, and with replace", nil},
		"stranded":            {admit.Known{State: messages.PageHung, IsStranded: true}, "recover with replace", nil},
		"a lost dialog":       {admit.Known{State: messages.PageDialogUnreachable}, "recover with release", nil},
		"a page in the clear": {admit.Known{IsPoisoned: true}, "try again in a moment", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := admit.Command(c.known, "Runtime.evaluate")
			if v.Action != admit.Refuse || !strings.Contains(v.Err.Message, c.says) {
				t.Fatalf("got %+v", v)
			}
			if got, _ := v.Err.Details["pending_dialogs"].([]messages.Dialog); !reflect.DeepEqual(got, c.dialogs) {
				t.Errorf("names %v, want %v", got, c.dialogs)
			}
		})
	}
}

// TestAnAnswerRefutesSilence, and nothing else.
func TestAnAnswerRefutesSilence(t *testing.T) {
	t.Parallel()
	for state, want := range map[messages.PageState]messages.Code{
		messages.PageHung: "", messages.PageDialogUnreachable: "", messages.PageBlockedElsewhere: "", messages.PageDialog: "",
		messages.PageCrashed: messages.CodePageCrashed,
	} {
		if v := admit.Command(admit.Known{State: state}.Answered(), "Runtime.evaluate"); messages.CodeOf(v.Error()) != want {
			t.Errorf("%s: %v", state, v.Error())
		}
	}
}

func TestNavigation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known  admit.Known
		action admit.Action
		code   messages.Code
	}{
		"a page that answers":       {admit.Known{}, admit.Forward, ""},
		"a page that hangs":         {admit.Known{State: messages.PageHung}, admit.Forward, ""},
		"a page that has crashed":   {admit.Known{State: messages.PageCrashed}, admit.Forward, ""},
		"detached":                  {admit.Known{IsDetached: true}, admit.Refuse, messages.CodeUpstreamUnavailable},
		"poisoned":                  {admit.Known{IsPoisoned: true}, admit.Refuse, messages.CodePageWedged},
		"doomed, not known for how": {admit.Known{IsDoomed: true, IsUnsettled: true}, admit.Wait, ""},
		"doomed, and waited for":    {admit.Known{IsDoomed: true}, admit.Forward, ""},
		"a dialog not proved yet":   {admit.Known{IsUnsettled: true}, admit.Forward, ""},
		"held by another page":      {admit.Known{State: messages.PageDialog, Shared: another}, admit.Refuse, messages.CodeBlockedByDialog},
		"held by another task":      {admit.Known{State: messages.PageBlockedElsewhere}, admit.Refuse, messages.CodePageWedged},
	} {
		if v := admit.Navigation(c.known); v.Action != c.action || messages.CodeOf(v.Error()) != c.code {
			t.Errorf("%s: %d %v", name, v.Action, v.Error())
		}
	}
	if v := admit.Arrival(admit.Known{PageDialogs: alert, IsStranded: true}); messages.CodeOf(v.Error()) != messages.CodeBlockedByDialog {
		t.Errorf("past an open dialog: %v", v.Error())
	}
	if v := admit.Arrival(admit.Known{IsStranded: true}); messages.CodeOf(v.Error()) != messages.CodePageWedged {
		t.Errorf("past a document that waits: %v", v.Error())
	}
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	const (
		forward = "forward"
		isSo    = "answer"
		waits   = "wait"
	)
	names := map[admit.Action]string{admit.Forward: forward, admit.Answer: isSo, admit.Wait: waits}
	for name, c := range map[string]struct {
		known admit.Known
		// In the order release, reload, reattach, replace, close.
		want [5]string
	}{
		"a page that answers":        {admit.Known{State: messages.PageOK}, [5]string{isSo, "invalid_argument", forward, "invalid_argument", "invalid_argument"}},
		"hung":                       {admit.Known{State: messages.PageHung}, [5]string{"page_wedged", forward, forward, forward, forward}},
		"stranded":                   {admit.Known{State: messages.PageHung, IsStranded: true}, [5]string{"page_wedged", "page_wedged", forward, forward, forward}},
		"crashed":                    {admit.Known{State: messages.PageCrashed}, [5]string{"page_crashed", forward, forward, forward, forward}},
		"paused":                     {admit.Known{State: messages.PagePaused}, [5]string{"page_wedged", forward, forward, forward, forward}},
		"its dialog is open":         {admit.Known{State: messages.PageDialog, PageDialogs: alert}, [5]string{"blocked_by_dialog", "blocked_by_dialog", forward, "blocked_by_dialog", forward}},
		"with no second link (C17)":  {admit.Known{State: messages.PageDialog, PageDialogs: alert, HasNoAnchor: true}, [5]string{"blocked_by_dialog", "blocked_by_dialog", "blocked_by_dialog", "blocked_by_dialog", forward}},
		"a lost dialog":              {admit.Known{State: messages.PageDialogUnreachable}, [5]string{forward, forward, forward, forward, forward}},
		"a lost beforeunload (C20)":  {admit.Known{State: messages.PageDialogUnreachable, IsUnsaveable: true}, [5]string{"page_wedged", "page_wedged", "page_wedged", "page_wedged", forward}},
		"poisoned (C15)":             {admit.Known{State: messages.PageDialogUnreachable, IsPoisoned: true}, [5]string{forward, forward, "page_wedged", forward, forward}},
		"held by another task (C59)": {admit.Known{State: messages.PageBlockedElsewhere}, [5]string{"page_wedged", "page_wedged", forward, forward, forward}},
		"detached":                   {admit.Known{State: messages.PageHung, IsDetached: true}, [5]string{"upstream_unavailable", "upstream_unavailable", "upstream_unavailable", "upstream_unavailable", forward}},
		"offline":                    {admit.Known{State: messages.PageHung, IsOffline: true}, [5]string{"upstream_unavailable", "upstream_unavailable", "upstream_unavailable", "upstream_unavailable", "upstream_unavailable"}},
		"unsettled (C58)":            {admit.Known{State: messages.PageHung, IsUnsettled: true}, [5]string{waits, waits, waits, waits, waits}},
	} {
		for i, action := range actions {
			v := admit.Recovery(c.known, action)
			got := names[v.Action]
			if v.Action == admit.Refuse {
				got = string(v.Err.Code)
			}
			if got != c.want[i] {
				t.Errorf("%s, %s: %s (%v), want %s", name, action, got, v.Error(), c.want[i])
			}
		}
	}
}

var actions = []messages.RecoverAction{messages.RecoverRelease, messages.RecoverReload, messages.RecoverReattach, messages.RecoverReplace, messages.RecoverClose}

// TestEveryQuestionHasOneVerdict, whatever is known of the page.
func TestEveryQuestionHasOneVerdict(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../../../internal/rawcdp/methods.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	methods := []string{"", "Future.method", "nonsense", "Page."}
	for sc := bufio.NewScanner(file); sc.Scan(); {
		if f := strings.Fields(sc.Text()); len(f) > 0 {
			methods = append(methods, f[0])
		}
	}
	if len(methods) < 300 {
		t.Fatalf("only %d methods are known", len(methods))
	}
	states := []messages.PageState{
		"", messages.PageOK, messages.PageCrashed, messages.PageHung, messages.PageDialog, messages.PageDialogUnreachable,
		messages.PageBlockedElsewhere, messages.PagePaused,
	}
	dialogs := rapid.SampledFrom([][]messages.Dialog{nil, alert, another})
	rapid.Check(t, func(t *rapid.T) {
		flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
		k := admit.Known{
			State: rapid.SampledFrom(states).Draw(t, "state"), IsStranded: flag("stranded"), IsPoisoned: flag("poisoned"),
			IsUnsettled: flag("unsettled"), IsUnsaveable: flag("unsaveable"), IsDoomed: flag("doomed"), IsOffline: flag("offline"),
			IsDetached: flag("detached"), HasNoAnchor: flag("no anchor"),
			Blocking: dialogs.Draw(t, "blocking"), Paused: dialogs.Draw(t, "paused"), Shared: dialogs.Draw(t, "shared"), PageDialogs: dialogs.Draw(t, "on the page"),
		}
		method, action := rapid.SampledFrom(methods).Draw(t, "method"), rapid.SampledFrom(actions).Draw(t, "action")
		for name, ask := range map[string]func() admit.Verdict{
			"command":    func() admit.Verdict { return admit.Command(k, method) },
			"navigation": func() admit.Verdict { return admit.Navigation(k) },
			"arrival":    func() admit.Verdict { return admit.Arrival(k) },
			"recovery":   func() admit.Verdict { return admit.Recovery(k, action) },
		} {
			v := ask()
			if !reflect.DeepEqual(v, ask()) {
				t.Fatalf("%s: two verdicts", name)
			}
			if (v.Action == admit.Refuse) != (v.Err != nil) || v.Action > admit.Wait {
				t.Fatalf("%s: %+v", name, v)
			}
			if v.Err == nil {
				continue
			}
			switch v.Err.Code {
			case messages.CodeBlockedByDialog, messages.CodePageWedged, messages.CodePageCrashed:
			case messages.CodeUpstreamUnavailable, messages.CodeInvalidArgument:
				if name == "command" {
					t.Fatalf("a command is refused with %s", v.Err.Code)
				}
			default:
				t.Fatalf("%s: code %s", name, v.Err.Code)
			}
			if v.Err.Message == "" {
				t.Fatalf("%s: refused without a word", name)
			}
		}
	})
}
