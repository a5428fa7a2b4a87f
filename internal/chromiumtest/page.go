package chromiumtest

import (
	"encoding/json"
	"fmt"
)

// Page is a tab that a Raw opened and attached to.
type Page struct {
	*Raw
	Target  string
	Session string
}

// NewPage opens a tab in the background, attaches with Page and Runtime
// enabled, and loads url ("" stays at about:blank). A background page answers
// neither Page.captureScreenshot nor Input.dispatchMouseEvent. The tab is
// closed at the end of the test.
func (r *Raw) NewPage(url string) *Page {
	r.t.Helper()
	return r.newPage(url, "background")
}

// NewWindow is NewPage with a window of its own, in which the page is in
// front whatever other tests do.
func (r *Raw) NewWindow(url string) *Page {
	r.t.Helper()
	return r.newPage(url, "newWindow")
}

func (r *Raw) newPage(url, where string) *Page {
	r.t.Helper()
	target := Field(r.Must("", "Target.createTarget", map[string]any{"url": "about:blank", where: true}), "targetId")
	p := &Page{Raw: r, Target: target}
	r.t.Cleanup(p.discard)
	p.Session = r.Attach(target)
	r.Must(p.Session, "Page.enable", nil)
	r.Must(p.Session, "Runtime.enable", nil)
	if url != "" {
		p.Navigate(url)
	}
	return p
}

// Attach attaches a new flat session to the target.
func (r *Raw) Attach(target string) (session string) {
	r.t.Helper()
	return Field(r.Must("", "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}), "sessionId")
}

// Navigate loads url and waits for its load event.
func (p *Page) Navigate(url string) {
	p.t.Helper()
	seen := len(p.Events(On(p.Session, "Page.loadEventFired")))
	result := p.Must(p.Session, "Page.navigate", map[string]any{"url": url})
	if text := Field(result, "errorText"); text != "" {
		p.t.Fatalf("navigate: %s", text)
	}
	n := 0
	if !p.HasSeen(func(e Event) bool {
		if On(p.Session, "Page.loadEventFired")(e) {
			n++
		}
		return n > seen
	}, Patience) {
		p.t.Fatalf("the page did not load within %v", Patience)
	}
}

// AutoAttach has the frames of the page attached, children of children too,
// and waits until n frames are attached and resumed. It returns their
// sessions by target id.
func (p *Page) AutoAttach(n int) map[string]string {
	p.t.Helper()
	sessions := map[string]string{}
	parents := []string{p.Session}
	for {
		for _, parent := range parents {
			p.Must(parent, "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true})
		}
		parents = nil
		if len(sessions) >= n {
			return sessions
		}
		e := p.NextWhere("Target.attachedToTarget of a frame", func(e Event) bool {
			if e.Method != "Target.attachedToTarget" || e.Session == "" || Field(json.RawMessage(e.Param("targetInfo")), "type") != "iframe" {
				return false
			}
			_, ours := sessions[targetOf(sessions, e.Session)]
			return ours || e.Session == p.Session
		})
		target := Field(json.RawMessage(e.Param("targetInfo")), "targetId")
		sessions[target] = e.Param("sessionId")
		parents = append(parents, e.Param("sessionId"))
	}
}

func targetOf(sessions map[string]string, session string) string {
	for target, s := range sessions {
		if s == session {
			return target
		}
	}
	return ""
}

// Frame returns the session of the attached frame whose URL is url.
func (p *Page) Frame(sessions map[string]string, url string) (target, session string) {
	p.t.Helper()
	for target, session := range sessions {
		if value := p.Eval(session, "location.href"); string(value) == fmt.Sprintf("%q", url) {
			return target, session
		}
	}
	p.t.Fatalf("no frame at %s", url)
	return "", ""
}

// Activate gives the main frame sticky user activation, without which there
// is no beforeunload dialog (chromium fact C10).
func (p *Page) Activate() {
	p.t.Helper()
	p.Must(p.Session, "Runtime.evaluate", map[string]any{"expression": "1", "userGesture": true})
}

// CloseTarget closes the tab.
func (p *Page) CloseTarget() {
	p.t.Helper()
	p.Must("", "Target.closeTarget", map[string]any{"targetId": p.Target})
}

// discard closes the tab if the browser still runs.
func (p *Page) discard() {
	_, _ = p.Send("", "Target.closeTarget", map[string]any{"targetId": p.Target}).Wait(Patience)
}

// Field reads one field of a JSON object as text; strings come without
// quotes, anything else as JSON, what is not there as "".
func Field(raw json.RawMessage, name string) string { return field(raw, name) }
