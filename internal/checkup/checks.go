package checkup

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdfast/messages"
	"holdfast/transport"
)

type check struct {
	name     string
	isNeeded bool // by all that follow
	try      func(*patient, context.Context) (found string, err error)
	mend     string
}

var checks = []check{
	{"connection", true, (*patient).connects, "give the address of a browser's DevTools that this machine reaches"},
	{"auto-attach", true, (*patient).autoAttaches, "nothing helps: without it no new page is seen, and no popup held before its first script; another service is needed"},
	{"native dialogs", false, (*patient).holdsDialogs, "tasks turn to the bridge by themselves once they see it; bridge: on has it from the start"},
	{"debugger bridge", false, (*patient).pauses, "tasks take the request bridge, where that works"},
	{"request bridge", false, (*patient).intercepts, "nothing needs it where the debugger bridge works; where that fails as well, dialogs are native"},
	{"frames attach", false, (*patient).attachesFrames, "frames of other processes are seen by their parents only; a browser that isolates sites shows them"},
	{"message size", false, (*patient).carries, "ask for less at once"},
	{"anchor", false, (*patient).takesTwo, "tasks do without: a dialog that is open when the connection drops is lost"},
}

func (p *patient) connects(ctx context.Context) (string, error) {
	link, err := transport.Dial(ctx, p.endpoint, transport.DialOptions{Events: wanted})
	if err != nil {
		return "", err
	}
	p.link, p.root = link, listen(link, "")
	var v struct {
		Product string `json:"product"`
	}
	if err := p.root.call(ctx, "Browser.getVersion", object{}, &v); err != nil {
		return "", err
	}
	return v.Product, nil
}

var pages = []object{{"type": "page"}}

type attached struct {
	Session messages.SessionID `json:"sessionId"`
	Waiting bool               `json:"waitingForDebugger"`
	Target  struct {
		ID     string `json:"targetId"`
		Opener string `json:"openerId"`
	} `json:"targetInfo"`
}

// autoAttaches tries it as a task does, and turns it off again.
func (p *patient) autoAttaches(ctx context.Context) (string, error) {
	p.arrivals = await(p.link, p.root)
	found, err := p.reportsNewPages(ctx)
	if e := p.attachAlone(context.WithoutCancel(ctx)); err == nil && e != nil {
		return "", fmt.Errorf("without auto-attach: %w", e)
	}
	return found, err
}

// reportsNewPages opens the tab, and a popup of it that has to be held before its first
// script. What others open meanwhile is resumed at once, see arrivals.
func (p *patient) reportsNewPages(ctx context.Context) (string, error) {
	if err := p.root.call(ctx, "Target.setAutoAttach", object{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": pages}, nil); err != nil {
		return "", err
	}
	var created struct {
		TargetID string `json:"targetId"`
	}
	if err := p.root.call(ctx, "Target.createTarget", object{"url": "about:blank", "background": true}, &created); err != nil {
		return "", err
	}
	p.target = created.TargetID
	p.arrivals.belongTo(p.target)
	tab, err := p.arrivals.next(ctx, func(a attached) bool { return a.Target.ID == p.target })
	if err != nil {
		return "", fmt.Errorf("a new page: %w", err)
	}
	page := listen(p.link, tab.Session)
	// The reply comes once the popup has been resumed.
	page.start("Runtime.evaluate", object{"expression": "window.popup = window.open('about:blank'); 0", "userGesture": true})
	popup, err := p.arrivals.next(ctx, func(a attached) bool { return a.Target.Opener == p.target })
	if err != nil {
		return "", fmt.Errorf("a popup: %w", err)
	}
	var opened bool
	err = page.eval(ctx, "window.popup !== null", &opened)
	p.root.start("Target.closeTarget", object{"targetId": popup.Target.ID})
	switch {
	case err != nil:
		return "", fmt.Errorf("a page that opens a popup stands still: %w", err)
	case !popup.Waiting:
		// Another client has resumed it (C32), or the browser holds none.
		return "new pages are attached to by themselves, but a popup ran before it was held: its first dialog may be native", nil
	}
	return "new pages are attached to by themselves, and popups before their first script", nil
}

// attachAlone turns auto-attach off, and has the tab attached to by itself. Auto-attach holds
// popups for as long as it is on, also where it is told not to hold. One that is held when
// the connection ends stays frozen, and its opener with it, also one of another client (C33).
func (p *patient) attachAlone(ctx context.Context) error {
	if err := p.root.call(ctx, "Target.setAutoAttach", object{"autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true}, nil); err != nil {
		return err
	}
	p.arrivals.resumeHeld(ctx, p.root)
	if p.target == "" {
		return nil
	}
	page, err := p.root.attach(ctx, p.target)
	if err != nil {
		return err
	}
	p.page = page
	for _, m := range []string{"Page.enable", "Runtime.enable"} {
		if err := page.call(ctx, m, object{}, nil); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	return nil
}

// held is how long a dialog has to stay open to be called answerable: longer than
// whatever closes dialogs by itself takes (C49).
const held = 500 * time.Millisecond

func (p *patient) holdsDialogs(ctx context.Context) (string, error) {
	if err := p.page.later(ctx, "window.got = confirm('holdfast doctor')"); err != nil {
		return "", err
	}
	if err := p.page.next(ctx, "Page.javascriptDialogOpening", patience, nil); err != nil {
		return "", err
	}
	opened := time.Now()
	if p.page.next(ctx, "Page.javascriptDialogClosed", held, nil) == nil {
		return "", fmt.Errorf("something closes them %d ms after they open", time.Since(opened).Milliseconds())
	}
	if err := p.page.accept(ctx); err != nil {
		return "", err
	}
	p.canAnswer = true
	return "they stay open, and are answered", nil
}

// accept answers a native dialog, and sees that the page has it.
func (e *ear) accept(ctx context.Context) error {
	if err := e.call(ctx, "Page.handleJavaScriptDialog", object{"accept": true}, nil); err != nil {
		return err
	}
	return e.got(ctx, true)
}

// The script that stops has a name, and what has none is passed over: that is what a task
// does, so that no debugger statement of the page's own stops it (docs/bridge.md).
const (
	scriptName = "holdfast-doctor"
	stops      = "window.holdfastDoctor = function () { let answer = 'none'; debugger; return answer }\n//# sourceURL=" + scriptName
	pausing    = "debugger; window.got = holdfastDoctor()"
)

// debug turns the debugger on as a task does, and has the tab, as it is, stop in our
// script alone.
func (e *ear) debug(ctx context.Context) error {
	for _, c := range []struct {
		method string
		params object
	}{
		{"Debugger.setBlackboxPatterns", object{"patterns": []string{"^(?!" + scriptName + "$)"}, "skipAnonymous": true}},
		{"Debugger.enable", object{}},
		{"Page.addScriptToEvaluateOnNewDocument", object{"source": stops, "runImmediately": true}},
	} {
		if err := e.call(ctx, c.method, c.params, nil); err != nil {
			return fmt.Errorf("%s: %w", c.method, err)
		}
	}
	return nil
}

func (p *patient) pauses(ctx context.Context) (string, error) {
	if err := p.page.debug(ctx); err != nil {
		return "", err
	}
	defer p.page.start("Debugger.disable", object{})
	if err := p.page.later(ctx, pausing); err != nil {
		return "", err
	}
	where, err := p.page.paused(ctx)
	if err != nil {
		return "", err
	}
	begun := time.Now()
	if err := p.page.release(ctx, where); err != nil {
		return "", err
	}
	p.canPause = true
	return fmt.Sprintf("a page waits and gets its answer, in %d ms", time.Since(begun).Milliseconds()), nil
}

// paused waits for the page to stop, and returns the call frame that stops.
func (e *ear) paused(ctx context.Context) (string, error) {
	var paused struct {
		Frames []struct {
			ID       string `json:"callFrameId"`
			Function string `json:"functionName"`
		} `json:"callFrames"`
	}
	if err := e.next(ctx, "Debugger.paused", patience, &paused); err != nil {
		return "", err
	}
	if len(paused.Frames) == 0 {
		return "", errors.New("a pause says nothing of where it is")
	}
	if f := paused.Frames[0].Function; !strings.HasSuffix(f, "holdfastDoctor") {
		e.start("Debugger.resume", object{})
		return "", errors.New("a debugger statement of the page's own stops it")
	}
	return paused.Frames[0].ID, nil
}

// release gives an answer to the call frame that stops, and sees that the page has it.
func (e *ear) release(ctx context.Context, frame string) error {
	if err := e.call(ctx, "Debugger.evaluateOnCallFrame", object{"callFrameId": frame, "expression": "answer = 'given'"}, nil); err != nil {
		return err
	}
	if err := e.call(ctx, "Debugger.resume", object{}, nil); err != nil {
		return err
	}
	return e.got(ctx, "given")
}

// got sees that the page has been given that answer.
func (e *ear) got(ctx context.Context, want any) error {
	var got any
	if err := e.eval(ctx, "got", &got); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the page did not get the answer: %.40v", got)
	}
	return nil
}

type request struct {
	ID      string `json:"requestId"`
	Request struct {
		URL string `json:"url"`
	} `json:"request"`
}

// intercept takes one request, and gives it a body.
func (p *patient) intercept(ctx context.Context, by *ear, body string) error {
	var r request
	if err := by.next(ctx, "Fetch.requestPaused", patience, &r); err != nil {
		return err
	}
	return by.fulfil(ctx, r, body)
}

func (e *ear) fulfil(ctx context.Context, r request, body string) error {
	return e.call(ctx, "Fetch.fulfillRequest", object{
		"requestId": r.ID, "responseCode": 200, "body": base64.StdEncoding.EncodeToString([]byte(body)),
		"responseHeaders": []object{{"name": "Access-Control-Allow-Origin", "value": "*"}, {"name": "Content-Type", "value": "text/html"}},
	}, nil)
}

const nowhere = "https://holdfast-doctor.invalid/"

// requesting is a script whose outcome is the response to a request that no server answers.
const requesting = "const x = new XMLHttpRequest(); x.open('GET', '" + nowhere + "', false); try { x.send(null); window.got = x.responseText } catch (e) { window.got = e.name }"

// hearRequests has a connection hear the requests of the tab as it is.
func hearRequests(ctx context.Context, root, page *ear) error {
	if err := root.call(ctx, "Fetch.enable", object{"patterns": []object{{"urlPattern": nowhere + "*"}}}, nil); err != nil {
		return err
	}
	// So that the document that is there is heard as well.
	if err := page.call(ctx, "Fetch.enable", object{"patterns": []object{{"urlPattern": nowhere + "none"}}}, nil); err != nil {
		return err
	}
	return page.call(ctx, "Fetch.disable", object{}, nil)
}

func (p *patient) intercepts(ctx context.Context) (string, error) {
	if err := hearRequests(ctx, p.root, p.page); err != nil {
		return "", err
	}
	defer p.root.start("Fetch.disable", object{})
	if err := p.page.call(ctx, "Runtime.addBinding", object{"name": "holdfastDoctorWord"}, nil); err != nil {
		return "", err
	}
	if err := p.page.later(ctx, "holdfastDoctorWord('asked'); "+requesting); err != nil {
		return "", err
	}
	if err := p.page.next(ctx, "Runtime.bindingCalled", patience, nil); err != nil {
		return "", err
	}
	if err := p.intercept(ctx, p.root, "given"); err != nil {
		return "", err
	}
	if err := p.page.got(ctx, "given"); err != nil {
		return "", err
	}
	p.canHold = true
	return "a request of the page is answered before it leaves", nil
}

var errUntried = errors.New("it cannot be tried where requests are not intercepted")

// attachesFrames makes two sites out of nothing, one within the other.
func (p *patient) attachesFrames(ctx context.Context) (string, error) {
	if err := p.page.call(ctx, "Fetch.enable", object{"patterns": []object{{"urlPattern": "https://*.invalid/*"}}}, nil); err != nil {
		return "", fmt.Errorf("%w: %w", errUntried, err)
	}
	defer p.page.start("Fetch.disable", object{})
	if err := p.page.call(ctx, "Target.setAutoAttach", object{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": []object{{"type": "iframe"}}}, nil); err != nil {
		return "", err
	}
	p.page.start("Page.navigate", object{"url": nowhere})
	if err := p.intercept(ctx, p.page, `<title>holdfast doctor</title><iframe src="https://holdfast-doctor-frame.invalid/"></iframe>`); err != nil {
		return "", err
	}
	if err := p.intercept(ctx, p.page, "<p>"); err != nil {
		return "", err
	}
	var a attached
	if err := p.page.next(ctx, "Target.attachedToTarget", patience, &a); err != nil {
		return "", errors.New("a frame of another site has no session of its own")
	}
	return "a frame of another site has a session of its own", nil
}

// carries finds out what a reply, and a command, may be as long as. The last size is
// within what a task reads (requirement A18).
func (p *patient) carries(ctx context.Context) (string, error) {
	works := 0
	for _, mib := range []int{1, 8, 48} {
		if err := p.carry(ctx, mib); err != nil && works == 0 {
			return "", fmt.Errorf("not even 1 MiB comes through: %w", err)
		} else if err != nil {
			return fmt.Sprintf("messages of %d MiB come through both ways, of %d MiB do not: %v", works, mib, err), nil
		}
		works = mib
		p.maxMessageMiB = mib
	}
	return fmt.Sprintf("messages of %d MiB come through both ways", works), nil
}

func (p *patient) carry(ctx context.Context, mib int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*budget)
	defer cancel()
	reply, err := p.link.Do(ctx, p.page.session, "Runtime.evaluate", fmt.Appendf(nil, `{"expression":"'x'.repeat(%d)"}`, mib<<20))
	if err == nil && len(reply) < mib<<20 {
		err = errors.New("it was cut")
	}
	if err != nil {
		return fmt.Errorf("a reply: %w", err)
	}
	// The browser reads over what it does not know; a script as long would be compiled.
	if _, err := p.link.Do(ctx, "", "Browser.getVersion", fmt.Appendf(nil, `{"holdfast":"%s"}`, strings.Repeat("x", mib<<20))); err != nil {
		return fmt.Errorf("a command: %w", err)
	}
	return nil
}
