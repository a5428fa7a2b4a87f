package tools

import (
	"context"
	"fmt"
	"time"
)

type scrollInput struct {
	on
	pointer
	acting
	Direction string  `json:"direction,omitempty" enum:"down|up|right|left" jsonschema:"default down; without it an element is brought into view"`
	Pixels    float64 `json:"pixels,omitempty" min:"1" max:"1000000" jsonschema:"default 600"`
}

type scrollOutput struct {
	// HasMoved says that something scrolled (W18).
	HasMoved bool `json:"moved"`
}

const positionScript = `function() {
  let n = this.nodeType === 1 ? this : this.parentElement, s = scrollX + ',' + scrollY;
  for (let i = 0; n && i < 256; i++, n = n.parentElement || (n.getRootNode() || {}).host) s += ';' + n.scrollLeft + ',' + n.scrollTop;
  return {at: s, x: innerWidth / 2, y: innerHeight / 2};
}`

// scrollWait is how long a wheel may take to move something: it moves smoothly.
const scrollWait = 500 * time.Millisecond

func runScroll(ctx context.Context, c *call, in scrollInput) (outcome, error) {
	var e element
	var err error
	var at spot
	if in.isZero() {
		e, err = c.query(ctx, mainFrame(c), "css", "body")
	} else if e, err = c.element(ctx, in.pointer); err == nil {
		at, err = c.actionable(ctx, e, "look", in.within())
	}
	if err != nil {
		return outcome{}, err
	}
	if !in.isZero() && in.Direction == "" {
		return outcome{text: e.what + " is in view.", data: scrollOutput{true}, isOfPage: true}, nil
	}
	if e.object == "" {
		return outcome{}, notFound("body")
	}
	var before, now struct {
		At string  `json:"at"`
		X  float64 `json:"x"`
		Y  float64 `json:"y"`
	}
	if err := c.run(ctx, e, positionScript, &before); err != nil {
		return outcome{}, err
	}
	if in.isZero() {
		at.X, at.Y = before.X, before.Y
	}
	by := in.Pixels
	if by == 0 {
		by = 600
	}
	dx, dy := 0.0, by
	switch in.Direction {
	case "up":
		dy = -by
	case "right":
		dx, dy = by, 0
	case "left":
		dx, dy = -by, 0
	}
	if err := c.mouse(ctx, "mouseWheel", at, map[string]any{"deltaX": dx, "deltaY": dy}); err != nil {
		return outcome{}, err
	}
	for began := time.Now(); time.Since(began) < scrollWait; {
		if err := c.run(ctx, e, positionScript, &now); err != nil {
			return outcome{}, err
		}
		if now.At != before.At {
			out := outcome{text: "Scrolled.", data: scrollOutput{true}, isOfPage: in.Snapshot}
			c.lookAfter(ctx, &out, in.acting, true)
			return out, nil
		}
		if err := pause(ctx, commitNotice); err != nil {
			return outcome{}, err
		}
	}
	return outcome{text: "Nothing moved: it is at its end, or something else scrolls. Name an element inside what scrolls.", data: scrollOutput{false}, category: "scroll-noop"}, nil
}

type dragInput struct {
	on
	acting
	From pointer `json:"from"`
	To   pointer `json:"to"`
}

// dragSteps is how many moves a drag takes (T27).
const dragSteps = 12

func runDrag(ctx context.Context, c *call, in dragInput) (outcome, error) {
	from, err := c.element(ctx, in.From)
	if err != nil {
		return outcome{}, err
	}
	to, err := c.element(ctx, in.To)
	if err != nil {
		return outcome{}, err
	}
	end, err := c.actionable(ctx, to, "look", in.within())
	if err != nil {
		return outcome{isOfPage: true}, err
	}
	start, err := c.actionable(ctx, from, "drag", in.within())
	if err != nil {
		return outcome{isOfPage: true}, err
	}
	// To bring one into view may have moved the other.
	if end, err = c.actionable(ctx, to, "look", in.within()); err != nil {
		return outcome{isOfPage: true}, err
	}
	w, err := c.watch(ctx, from)
	if err != nil {
		return outcome{}, err
	}
	held := map[string]any{"button": "left", "buttons": 1, "clickCount": 1}
	if err = w.aim(ctx, start); isRefusal(err) {
		return outcome{isOfPage: true}, err
	}
	if err == nil {
		err = c.mouse(ctx, "mousePressed", start, held)
	}
	for i := 1; i <= dragSteps && err == nil; i++ {
		part := float64(i) / dragSteps
		err = c.mouse(ctx, "mouseMoved", spot{X: start.X + (end.X-start.X)*part, Y: start.Y + (end.Y-start.Y)*part}, map[string]any{"button": "left", "buttons": 1})
	}
	if err == nil {
		err = c.mouse(ctx, "mouseReleased", end, map[string]any{"button": "left", "clickCount": 1})
	}
	done, err := w.settle(ctx, err)
	if err != nil {
		return outcome{}, err
	}
	done.ClickDispatch = ""
	return c.acted(ctx, fmt.Sprintf("Dragged %s to %s", from.what, to.what), done, in.acting)
}
