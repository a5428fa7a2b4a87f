package rawcdp

import (
	"encoding/json"
	"testing"

	"holdfast/messages"
)

var (
	alone     = Caller{}
	shared    = Caller{IsShared: true}
	isolated  = Caller{IsShared: true, Context: "C1"}
	scoped    = Caller{IsScoped: true, IsShared: true, Context: "C1"}
	scopedOne = Caller{IsScoped: true}
	launched  = Caller{IsScoped: true, Downloads: "/own"}
)

func TestJudge(t *testing.T) {
	const ok = messages.Code("")
	for _, c := range []struct {
		method, params string
		caller         Caller
		want           messages.Code
		sent           string
	}{
		{"Runtime.evaluate", `{"expression":"1"}`, scoped, ok, `{"expression":"1"}`},
		{"Page.disable", ``, alone, messages.CodeForbidden, ``},
		{"Browser.close", ``, alone, messages.CodeForbidden, ``},
		{"Future.method", `{}`, alone, ok, `{}`},
		{"Future.method", `{}`, scopedOne, messages.CodeForbidden, ``},
		{"SystemInfo.getInfo", ``, alone, ok, ``},
		{"SystemInfo.getInfo", ``, isolated, messages.CodeForbidden, ``},
		{"SystemInfo.getInfo", ``, scopedOne, messages.CodeForbidden, ``},
		{"Tracing.start", `{}`, scoped, messages.CodeForbidden, ``},
		{"Tracing.start", `{}`, shared, messages.CodeForbidden, ``},
		{"Tethering.bind", `{"port":1}`, scopedOne, messages.CodeForbidden, ``},
		{"Target.setRemoteLocations", `{"locations":[]}`, shared, messages.CodeForbidden, ``},
		{"Target.openDevTools", `{"targetId":"T"}`, shared, messages.CodeForbidden, ``},
		{"Target.createBrowserContext", ``, shared, messages.CodeForbidden, ``},
		{"Target.createBrowserContext", ``, alone, ok, ``},
		{"DOM.setFileInputFiles", `{"files":["/etc/shadow"]}`, scoped, messages.CodeForbidden, ``},
		{"DOM.setFileInputFiles", `{"files":["/etc/shadow"]}`, shared, ok, `{"files":["/etc/shadow"]}`},
		{"Input.dispatchDragEvent", `{"type":"drop","data":{"items":[],"files":["/etc/shadow"]}}`, scoped, messages.CodeForbidden, ``},
		{"Input.dispatchDragEvent", `{"type":"drop","data":{"files":[],"items":[],"files":["/etc/shadow"]}}`, scoped, messages.CodeForbidden, ``},
		{"Input.dispatchDragEvent", `{"type":"drop","data":{"items":[]}}`, scoped, ok, `{"type":"drop","data":{"items":[]}}`},
		{"Input.dispatchDragEvent", `{"type":"drop","data":{"items":[],"files":["/f"]}}`, shared, ok, `{"type":"drop","data":{"items":[],"files":["/f"]}}`},
		{"Browser.setDownloadBehavior", `{"behavior":"allow","downloadPath":"/home/other/.ssh"}`, scoped, messages.CodeForbidden, ``},
		{"Browser.setDownloadBehavior", `{"behavior":"deny"}`, scoped, ok, `{"behavior":"deny","browserContextId":"C1"}`},
		{"Browser.setDownloadBehavior", `{"behavior":"allow","downloadPath":"/home/other/.ssh"}`, launched, ok, `{"behavior":"allow","downloadPath":"/own"}`},
		{"Browser.setDownloadBehavior", `{"behavior":"allowAndName"}`, launched, ok, `{"behavior":"allowAndName","downloadPath":"/own"}`},
		{"Browser.setDownloadBehavior", `{"behavior":"deny"}`, launched, ok, `{"behavior":"deny"}`},
		{"Page.setDownloadBehavior", `{"behavior":"allow","downloadPath":"/home/other/.ssh"}`, launched, ok, `{"behavior":"allow","downloadPath":"/own"}`},
		{"Page.setDownloadBehavior", `{"behavior":"allow","downloadPath":"/d"}`, scoped, messages.CodeForbidden, ``},
		{"Page.setDownloadBehavior", `{"behavior":"allow","downloadPath":"/d"}`, shared, messages.CodeForbidden, ``},
		{"Page.setDownloadBehavior", `{"behavior":"allow","downloadPath":"/d"}`, alone, ok, `{"behavior":"allow","downloadPath":"/d"}`},
		{"Browser.grantPermissions", `{"permissions":["geolocation"]}`, isolated, ok, `{"permissions":["geolocation"],"browserContextId":"C1"}`},
		{"Browser.grantPermissions", `{"permissions":[],"browserContextId":"C1"}`, isolated, ok, `{"permissions":[],"browserContextId":"C1"}`},
		{"Browser.grantPermissions", `{"permissions":[],"browserContextId":"C2"}`, isolated, messages.CodeForbidden, ``},
		{"Browser.grantPermissions", `{"permissions":[],"browsercontextid":"C2"}`, isolated, messages.CodeInvalidArgument, ``},
		{"Browser.grantPermissions", `{"permissions":[]}`, shared, messages.CodeForbidden, ``},
		{"Browser.grantPermissions", `{"permissions":[]}`, alone, ok, `{"permissions":[]}`},
		{"Network.getCookies", ``, shared, ok, ``},
		{"Network.getCookies", `{"urls":["https://bank.test"]}`, shared, messages.CodeForbidden, ``},
		{"Network.getCookies", `{"urls":["https://bank.test"]}`, isolated, ok, `{"urls":["https://bank.test"]}`},
		{"Network.getAllCookies", ``, shared, messages.CodeForbidden, ``},
		{"Network.clearBrowserCookies", ``, isolated, ok, ``},
		{"Storage.getCookies", ``, shared, messages.CodeForbidden, ``},
		{"Storage.getCookies", ``, scoped, ok, `{"browserContextId":"C1"}`},
		{"Storage.getCookies", `{"browserContextId":"C1"}`, scoped, ok, `{"browserContextId":"C1"}`},
		{"Storage.clearDataForOrigin", `{"origin":"http://a.test","storageTypes":"all","browserContextId":"C1"}`, scoped, ok, `{"origin":"http://a.test","storageTypes":"all"}`},
		{"Storage.getCookies", `{"browserContextId":"C2"}`, scoped, messages.CodeForbidden, ``},
		{"Target.getTargetInfo", `{"targetId":"T","targetId":"U"}`, alone, messages.CodeInvalidArgument, ``},
		{"Target.getTargetInfo", `{"targetId":"T","targetid":1}`, shared, messages.CodeInvalidArgument, ``},
		{"Target.getTargetInfo", `{"targetId":"T","\u0074argetId":"U"}`, shared, messages.CodeInvalidArgument, ``},
		{"Target.getTargetInfo", `{"targetId":1}`, shared, messages.CodeInvalidArgument, ``},
		{"Target.getTargetInfo", `{"targetId":null}`, shared, messages.CodeInvalidArgument, ``},
		{"Target.getTargetInfo", `[]`, shared, messages.CodeInvalidArgument, ``},
		{"Browser.setWindowBounds", `{"windowId":"1","bounds":{}}`, shared, messages.CodeInvalidArgument, ``},
		{"Browser.setWindowBounds", `{"windowId":1.5,"bounds":{}}`, shared, messages.CodeInvalidArgument, ``},
		{"Browser.setWindowBounds", `{"bounds":{},"windowId":1,"windowId":2}`, shared, messages.CodeInvalidArgument, ``},
	} {
		r, err := Judge(c.method, json.RawMessage(c.params), c.caller)
		switch got := messages.CodeOf(err); {
		case got != c.want:
			t.Errorf("%s %s of %+v: %v, want %q", c.method, c.params, c.caller, err, c.want)
		case err == nil && string(r.Params) != c.sent:
			t.Errorf("%s %s of %+v sends %s, want %s", c.method, c.params, c.caller, r.Params, c.sent)
		}
	}
}

// What is refused to a shared task is refused to a scoped token on it as well.
func TestScopedTokensMayDoLess(t *testing.T) {
	for _, m := range Decided() {
		for _, c := range []Caller{alone, shared, isolated} {
			s := c
			s.IsScoped = true
			_, free := Judge(m, nil, c)
			_, bound := Judge(m, nil, s)
			if free != nil && bound == nil {
				t.Errorf("%s: refused to an admin, not to a scoped token: %v", m, free)
			}
		}
	}
}

// FuzzJudge: whatever the parameters are, what is checked is what is sent.
func FuzzJudge(f *testing.F) {
	for _, p := range []string{
		``, `null`, `{}`, `{"targetId":"T"}`, `{"targetId":"T","targetid":1}`, `{"windowId":1,"windowId":2}`, `{"a":{"targetId":1}}`,
		"{\"targetId\":\"\xff\"}", `{"targetId":"\ud800"}`, `{"targetId":"T"}{`, ` { "browserContextId" : "C1" } `,
	} {
		f.Add("Target.getTargetInfo", p)
		f.Add("Browser.setWindowBounds", p)
		f.Add("Browser.setPermission", p)
	}
	f.Fuzz(func(t *testing.T, method, params string) {
		if req := (messages.CDPRequest{Method: method, Params: json.RawMessage(params)}); req.Validate() != nil {
			return // it does not come to the rules
		}
		for _, c := range []Caller{alone, shared, isolated, scoped, scopedOne} {
			r, err := Judge(method, json.RawMessage(params), c)
			if err != nil {
				if code := messages.CodeOf(err); code != messages.CodeForbidden && code != messages.CodeInvalidArgument {
					t.Fatalf("%s %q: %v", method, params, err)
				}
				continue
			}
			if r.Target == "" && !r.HasWindow {
				continue
			}
			// As Chrome reads: exact names, the last one counts.
			var sent map[string]any
			if err := json.Unmarshal(r.Params, &sent); err != nil {
				t.Fatalf("%s %q sends %q: %v", method, params, r.Params, err)
			}
			if r.Target != "" && sent["targetId"] != string(r.Target) {
				t.Fatalf("%s %q: checked %q, sends %q", method, params, r.Target, r.Params)
			}
			if r.HasWindow && sent["windowId"] != float64(r.Window) {
				t.Fatalf("%s %q: checked window %d, sends %q", method, params, r.Window, r.Params)
			}
		}
	})
}
