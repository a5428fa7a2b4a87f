package tools

import (
	"context"

	"holdfast/messages"
)

type clickInput struct {
	on
	pointer
	acting
	Button    string   `json:"button,omitempty" enum:"left|right|middle"`
	Double    bool     `json:"double,omitempty"`
	Modifiers []string `json:"modifiers,omitempty" jsonschema:"keys to hold, such as Shift"`
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
	if _, err := parseModifiers(in.Modifiers); err != nil {
		return outcome{}, err
	}
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
	names, _ := parseModifiers(in.Modifiers) // looked at before
	mods := 0
	if err == nil {
		mods, err = c.holdKeys(ctx, names)
	}
	for i := 1; i <= times && err == nil; i++ {
		if err = c.mouse(ctx, "mousePressed", at, map[string]any{"button": button, "buttons": bit, "clickCount": i, "modifiers": mods}); err == nil {
			err = c.mouse(ctx, "mouseReleased", at, map[string]any{"button": button, "clickCount": i, "modifiers": mods})
		}
	}
	if err == nil {
		err = c.freeKeys(ctx, names, mods)
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
