package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"holdfast/messages"
)

// actionTools act on elements by trusted input events.
var actionTools = []Tool{
	define[clickInput, actionOutput](Tool{
		Name: "browser_click", Title: "Click", Group: "actions", IsCore: true,
		Description: "Click an element once it is visible, enabled, at rest and not covered. Says what the page did: navigated, dialog, popup, download or nothing.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runClick),
	define[typeInput, actionOutput](Tool{
		Name: "browser_type", Title: "Type text", Group: "actions", IsCore: true,
		Description: "Put text into a field in place of what it holds. Takes dates, ranges and checkboxes (true, false) too.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runType),
	define[pressInput, actionOutput](Tool{
		Name: "browser_press_key", Title: "Press key", Group: "actions", IsCore: true,
		Description: "Press a key, such as Enter, ArrowDown, a or Control+A, in the element that has the focus.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runPress),
	define[selectInput, selectOutput](Tool{
		Name: "browser_select_option", Title: "Select option", Group: "actions", IsCore: true,
		Description: "Choose options of a select by value or label.",
		Hints:       messages.ToolHints{Destructive: true, Idempotent: true, OpenWorld: true},
	}, runSelect),
	define[fillForm, fillOutput](Tool{
		Name: "browser_fill_form", Title: "Fill form", Group: "actions", IsCore: true,
		Description: "Fill several fields in one call, in order. Stops at the first that fails.",
		Hints:       messages.ToolHints{Destructive: true, Idempotent: true, OpenWorld: true},
	}, runFillForm),
	define[hoverInput, actionOutput](Tool{
		Name: "browser_hover", Title: "Hover", Group: "actions",
		Description: "Move the pointer over an element.",
		Hints:       messages.ToolHints{OpenWorld: true},
	}, runHover),
	define[scrollInput, scrollOutput](Tool{
		Name: "browser_scroll", Title: "Scroll", Group: "actions",
		Description: "Scroll by the wheel, over an element or the middle of the page.",
		Hints:       messages.ToolHints{OpenWorld: true},
	}, runScroll),
	define[dragInput, actionOutput](Tool{
		Name: "browser_drag", Title: "Drag", Group: "actions",
		Description: "Drag an element onto another with the mouse.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runDrag),
	define[uploadInput, uploadOutput](Tool{
		Name: "browser_file_upload", Title: "Upload files", Group: "actions",
		Description: "Give a file input its files, as base64 content or as artifacts of the task.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runUpload),
}

// acting is what the input of every action has.
type acting struct {
	TimeoutS float64 `json:"timeout_s,omitempty" jsonschema:"wait for the element, default 5"`
	Snapshot bool    `json:"snapshot,omitempty" jsonschema:"add what changed on the page"`
}

func (a acting) within() time.Duration {
	if a.TimeoutS == 0 {
		return defaultAction
	}
	return time.Duration(clampTimeout(a.TimeoutS) * float64(time.Second))
}

type clickInput struct {
	on
	pointer
	acting
	Button string `json:"button,omitempty" enum:"left|right|middle"`
	Double bool   `json:"double,omitempty"`
}

type typeInput struct {
	on
	pointer
	acting
	Text   string `json:"text" maxlen:"1048576"`
	Submit bool   `json:"submit,omitempty" jsonschema:"press Enter after it"`
	Slowly bool   `json:"slowly,omitempty" jsonschema:"one key at a time, after what is there"`
}

type pressInput struct {
	on
	pointer
	acting
	Key string `json:"key" maxlen:"60"`
}

type selectInput struct {
	on
	pointer
	acting
	Values []string `json:"values"`
}

type selectOutput struct {
	Selected []string `json:"selected"`
}

type formField struct {
	pointer
	Value string `json:"value" jsonschema:"text, date, option, or true and false"`
}

type fillForm struct {
	on
	acting
	Fields []formField `json:"fields"`
}

type fillOutput struct {
	Filled int `json:"filled"`
}

type hoverInput struct {
	on
	pointer
	acting
}

// mouse sends one event of the mouse to the page. The browser finds the frame below it.
func (c *call) mouse(ctx context.Context, kind string, s spot, more map[string]any) error {
	params := map[string]any{"type": kind, "x": s.X, "y": s.Y}
	for k, v := range more {
		params[k] = v
	}
	return c.cdp(ctx, "", "Input.dispatchMouseEvent", params, nil, quickly)
}

func runClick(ctx context.Context, c *call, in clickInput) (outcome, error) {
	e, err := c.element(ctx, in.pointer)
	if err != nil {
		return outcome{}, err
	}
	return c.click(ctx, e, in)
}

func (c *call) click(ctx context.Context, e element, in clickInput) (outcome, error) {
	ctx, stop, err := c.answering(ctx, e.target)
	defer stop()
	if err != nil {
		return outcome{}, err
	}
	at, err := c.actionable(ctx, e, "click", in.within())
	if err != nil {
		return outcome{isOfPage: true}, err
	}
	w, err := c.watch(ctx, e)
	if err != nil {
		return outcome{}, err
	}
	button := in.Button
	if button == "" {
		button = "left"
	}
	times := 1
	if in.Double {
		times = 2
	}
	bit := map[string]int{"left": 1, "right": 2, "middle": 4}[button]
	err = w.aim(ctx, at)
	if isRefusal(err) {
		return outcome{isOfPage: true}, err
	}
	for i := 1; i <= times && err == nil; i++ {
		if err = c.mouse(ctx, "mousePressed", at, map[string]any{"button": button, "buttons": bit, "clickCount": i}); err == nil {
			err = c.mouse(ctx, "mouseReleased", at, map[string]any{"button": button, "clickCount": i})
		}
	}
	done, err := w.settle(ctx, err)
	if err != nil {
		return outcome{text: "Clicked " + e.what + ".", isOfPage: true}, err
	}
	if done.Outcome == didNothing && done.ClickDispatch == "not-reached" {
		return outcome{data: done, isOfPage: true}, notReached(e)
	}
	return c.acted(ctx, "Clicked "+e.what, done, in.acting)
}

// notReached is the error of a pointer that something else has taken.
func notReached(e element) error {
	return messages.Errorf(messages.CodeNotActionable, "no trusted event reached %s: something took the click", e.what).With("why", "click not dispatched")
}

// acted is the result of an action.
func (c *call) acted(ctx context.Context, did string, done actionOutput, a acting) (outcome, error) {
	out := outcome{text: did + ": " + done.words() + ".", data: done, isOfPage: true}
	if done.Outcome == didDialog {
		out.category = "dialog"
		if snap, err := c.snapshot(); err == nil {
			out.next = c.answers(snap.PendingDialogs)
		}
		return out, nil
	}
	if done.FileChooser != nil {
		out.category = "blocker"
		out.text += "\nIt opens the browser's file chooser, in which nothing is chosen: give the files with browser_file_upload."
		out.next = append(out.next, c.onPage("browser_file_upload", "give the files; fill in name and content, or artifact_id", messages.ToolInput{"selector": done.FileChooser.Selector, "files": []any{}}))
	}
	if done.Outcome == didDownload {
		c.downloaded(ctx, &out)
	}
	if done.PopupTabID != "" {
		out.next = append(out.next, c.action("browser_snapshot", "look at the tab that was opened", messages.ToolInput{"tab": done.PopupTabID}))
	}
	c.lookAfter(ctx, &out, a, done.Outcome != didNavigate)
	return out, nil
}

// lookAfter adds a look at the page to what an action says, where that was asked for. The action is
// done: a page that cannot be read is no error of it.
func (c *call) lookAfter(ctx context.Context, out *outcome, a acting, isSamePage bool) {
	if !a.Snapshot {
		return
	}
	if elements, err := c.awaitQuiet(ctx); err != nil || elements > maxLookedAt {
		out.text += "\nThe page is busy or large, and was not read along. Name elements by role and name, or take browser_snapshot."
		return
	}
	if page, err := runSnapshot(ctx, c, snapshotInput{on: on{Tab: c.tabName}, Diff: isSamePage}); err == nil {
		out.text += "\n" + page.text
		out.next = append(out.next, page.next...)
	}
}

// quietPatience is how long a page may go on to change after an action, before it is looked at.
const quietPatience = 2 * time.Second

// maxLookedAt is how many elements a page may have that is read along with an action: to capture more
// keeps its renderer busy for seconds, in which nothing else can be done there.
const maxLookedAt = 40_000

// awaitQuiet waits until what an action has begun in the page has changed it: a list that opens, an
// answer that is shown. It returns how many elements there are then. The error is of a page that is
// busy all the time; one that leaves, or that a dialog holds, has none.
func (c *call) awaitQuiet(ctx context.Context) (elements int, err error) {
	within, cancel := context.WithTimeout(ctx, quietPatience)
	defer cancel()
	var got evaluation
	err = c.cdp(within, "", "Runtime.evaluate", map[string]any{"expression": quietScript, "awaitPromise": true, "returnByValue": true}, &got, quickly)
	if err != nil && within.Err() == nil {
		return 0, nil //nolint:nilerr // the look says what holds the page
	}
	_ = json.Unmarshal(got.Result.Value, &elements) // none of a page without an answer
	return elements, err
}

// filled says what fillScript found.
type filled struct {
	IsDone    bool   `json:"done"`
	IsChecked bool   `json:"checked"`
	Why       string `json:"why"`
	Type      string `json:"type"`
}

// fill puts a text into a field, or gives it the value that the text means.
func (c *call) fill(ctx context.Context, e element, text string, within time.Duration) error {
	if _, err := c.actionable(ctx, e, "look", within); err != nil {
		return err
	}
	var f filled
	if err := c.run(ctx, e, fillScript, &f, text); err != nil {
		return err
	}
	switch f.Why {
	case "":
	case "select":
		_, err := c.choose(ctx, e, []string{text})
		return err
	case "check":
		if text != "true" && text != "false" {
			return messages.Errorf(messages.CodeInvalidArgument, "%s takes true or false", e.what)
		}
		if f.IsChecked == (text == "true") {
			return nil
		}
		_, err := c.click(ctx, e, clickInput{acting: acting{TimeoutS: within.Seconds()}})
		return err
	case "malformed":
		return messages.Errorf(messages.CodeNotActionable, "%s takes no such text: its type is %s, whose values look like %s", e.what, f.Type, formats[f.Type]).With("why", f.Why)
	default:
		return messages.Errorf(messages.CodeNotActionable, "%s takes no text: %s", e.what, f.Why).With("why", f.Why)
	}
	if f.IsDone {
		return nil
	}
	return c.cdp(ctx, "", "Input.insertText", map[string]any{"text": text}, nil, quickly)
}

var formats = map[string]string{"date": "2030-12-31", "datetime-local": "2030-12-31T23:59", "month": "2030-12", "week": "2030-W52", "time": "23:59"}

func runType(ctx context.Context, c *call, in typeInput) (outcome, error) {
	e, err := c.element(ctx, in.pointer)
	if err != nil {
		return outcome{}, err
	}
	ctx, stop, err := c.answering(ctx, e.target)
	defer stop()
	if err != nil {
		return outcome{}, err
	}
	var w *witness
	if in.Slowly {
		if _, err = c.actionable(ctx, e, "look", in.within()); err == nil {
			err = c.run(ctx, e, focusScript, nil)
		}
		if err == nil {
			w, err = c.watch(ctx, e)
		}
		if err == nil {
			err = c.keys(ctx, in.Text)
		}
	} else {
		if w, err = c.watch(ctx, e); err == nil {
			err = c.fill(ctx, e, in.Text, in.within())
		}
	}
	if err == nil && in.Submit {
		err = c.press(ctx, "Enter")
	}
	if w == nil || err != nil && isRefusal(err) {
		return outcome{}, err
	}
	done, err := w.settle(ctx, err)
	if err != nil {
		return outcome{}, err
	}
	done.ClickDispatch = ""
	return c.acted(ctx, "Typed into "+e.what, done, in.acting)
}

// isRefusal says that an error is the tool's own, and nothing was done.
func isRefusal(err error) bool {
	switch messages.CodeOf(err) {
	case messages.CodeNotActionable, messages.CodeStaleRef, messages.CodeInvalidArgument:
		return true
	}
	return false
}

// maxSlow bounds a text that is typed key by key.
const maxSlow = 5000

// keys types a text key by key.
func (c *call) keys(ctx context.Context, text string) error {
	if len(text) > maxSlow {
		return messages.Errorf(messages.CodeInvalidArgument, "text: at most %d bytes can be typed slowly", maxSlow)
	}
	for _, r := range text {
		k := character(string(r))
		if r == '\n' {
			k = namedKeys["enter"]
		}
		if err := c.stroke(ctx, k, 0); err != nil {
			return err
		}
	}
	return nil
}

// stroke presses one key and lets it up.
func (c *call) stroke(ctx context.Context, k key, mods int) error {
	params := map[string]any{"key": k.name, "code": k.code, "windowsVirtualKeyCode": k.number, "modifiers": mods, "type": "rawKeyDown"}
	if k.text != "" && mods&^8 == 0 {
		params["type"], params["text"] = "keyDown", k.text
	}
	if mods&(2|4) != 0 && (k.name == "a" || k.name == "A") {
		params["commands"] = []string{"selectAll"} // what a system's own shortcut does
	}
	if err := c.cdp(ctx, "", "Input.dispatchKeyEvent", params, nil, quickly); err != nil {
		return err
	}
	return c.cdp(ctx, "", "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": k.name, "code": k.code, "windowsVirtualKeyCode": k.number, "modifiers": mods}, nil, quickly)
}

// press presses a key with its modifiers.
func (c *call) press(ctx context.Context, text string) error {
	names, k, err := parseKeys(text)
	if err != nil {
		return err
	}
	mods := 0
	for _, name := range names {
		m := modifiers[name]
		mods |= m.bit
		if err := c.cdp(ctx, "", "Input.dispatchKeyEvent", map[string]any{"type": "rawKeyDown", "key": m.key.name, "code": m.key.code, "windowsVirtualKeyCode": m.key.number, "modifiers": mods}, nil, quickly); err != nil {
			return err
		}
	}
	if mods&8 != 0 && len(k.text) == 1 && k.text[0] >= 'a' && k.text[0] <= 'z' {
		k = character(string(k.text[0] - 'a' + 'A'))
	}
	err = c.stroke(ctx, k, mods)
	for i := len(names) - 1; i >= 0 && err == nil; i-- {
		m := modifiers[names[i]]
		mods &^= m.bit
		err = c.cdp(ctx, "", "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": m.key.name, "code": m.key.code, "windowsVirtualKeyCode": m.key.number, "modifiers": mods}, nil, quickly)
	}
	return err
}

func runPress(ctx context.Context, c *call, in pressInput) (outcome, error) {
	if _, _, err := parseKeys(in.Key); err != nil {
		return outcome{}, err
	}
	var e element
	var err error
	if in.isZero() {
		e, err = c.query(ctx, mainFrame(c), "css", "html")
	} else if e, err = c.element(ctx, in.pointer); err == nil {
		err = c.run(ctx, e, focusScript, nil)
	}
	if err != nil {
		return outcome{}, err
	}
	ctx, stop, err := c.answering(ctx, e.target)
	defer stop()
	if err != nil {
		return outcome{}, err
	}
	w, err := c.watch(ctx, e)
	if err != nil {
		return outcome{}, err
	}
	err = c.press(ctx, in.Key)
	if err != nil && isRefusal(err) {
		return outcome{}, err
	}
	done, err := w.settle(ctx, err)
	if err != nil {
		return outcome{}, err
	}
	done.ClickDispatch = ""
	return c.acted(ctx, "Pressed "+cut(in.Key, 60), done, in.acting)
}

// mainFrame is the place of the page's main frame; its id is the target's.
func mainFrame(c *call) place {
	target, err := c.page()
	if err != nil {
		return place{}
	}
	return place{target: target, frame: messages.FrameID(target)}
}

// choose selects options of a select.
func (c *call) choose(ctx context.Context, e element, values []string) ([]string, error) {
	var got struct {
		Why     string   `json:"why"`
		Chosen  []string `json:"chosen"`
		Missing []string `json:"missing"`
		Options []string `json:"options"`
	}
	if err := c.run(ctx, e, selectScript, &got, values); err != nil {
		return nil, err
	}
	switch got.Why {
	case "":
		return got.Chosen, nil
	case "missing":
		return nil, messages.Errorf(messages.CodeNotActionable, "%s has no option %q that can be chosen", e.what, cut(got.Missing[0], 100)).With("why", "no such option").With("options", got.Options)
	case "single":
		return nil, messages.Errorf(messages.CodeNotActionable, "%s takes one option only", e.what).With("why", got.Why)
	}
	return nil, messages.Errorf(messages.CodeNotActionable, "%s is no select; click it and then its option", e.what).With("why", got.Why)
}

func runSelect(ctx context.Context, c *call, in selectInput) (outcome, error) {
	if len(in.Values) == 0 || len(in.Values) > 1000 {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "values: 1 to 1000 options")
	}
	e, err := c.element(ctx, in.pointer)
	if err != nil {
		return outcome{}, err
	}
	if _, err := c.actionable(ctx, e, "look", in.within()); err != nil {
		return outcome{}, err
	}
	chosen, err := c.choose(ctx, e, in.Values)
	if err != nil {
		return outcome{isOfPage: true}, err
	}
	out := outcome{text: fmt.Sprintf("Selected %q in %s.", chosen, e.what), data: selectOutput{chosen}, isOfPage: true}
	c.lookAfter(ctx, &out, in.acting, true)
	return out, nil
}

// maxFields bounds the fields of one form.
const maxFields = 100

func runFillForm(ctx context.Context, c *call, in fillForm) (outcome, error) {
	if len(in.Fields) == 0 || len(in.Fields) > maxFields {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "fields: 1 to %d", maxFields)
	}
	for i, f := range in.Fields {
		e, err := c.element(ctx, f.pointer)
		if err == nil {
			err = c.fill(ctx, e, f.Value, in.within())
		}
		if err != nil {
			return outcome{text: fmt.Sprintf("Filled %d of %d fields; %s failed.", i, len(in.Fields), f.pointer), data: fillOutput{i}, isOfPage: true}, err
		}
	}
	out := outcome{text: fmt.Sprintf("Filled %d fields.", len(in.Fields)), data: fillOutput{len(in.Fields)}, isOfPage: true}
	c.lookAfter(ctx, &out, in.acting, true)
	return out, nil
}

func runHover(ctx context.Context, c *call, in hoverInput) (outcome, error) {
	e, err := c.element(ctx, in.pointer)
	if err != nil {
		return outcome{}, err
	}
	at, err := c.actionable(ctx, e, "hover", in.within())
	if err != nil {
		return outcome{isOfPage: true}, err
	}
	if err := c.mouse(ctx, "mouseMoved", at, nil); err != nil {
		return outcome{}, err
	}
	return c.acted(ctx, "The pointer is over "+e.what, actionOutput{Outcome: didNothing}, in.acting)
}
