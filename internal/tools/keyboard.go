package tools

import (
	"context"

	"holdfast/messages"
)

type pressInput struct {
	on
	pointer
	acting
	Key string `json:"key" maxlen:"60"`
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
	mods, err := c.holdKeys(ctx, names)
	if err != nil {
		return err
	}
	if mods&8 != 0 && len(k.text) == 1 && k.text[0] >= 'a' && k.text[0] <= 'z' {
		k = character(string(k.text[0] - 'a' + 'A'))
	}
	if err := c.stroke(ctx, k, mods); err != nil {
		return err
	}
	return c.freeKeys(ctx, names, mods)
}

// holdKeys presses modifiers, and returns their bits.
func (c *call) holdKeys(ctx context.Context, names []string) (mods int, err error) {
	for _, name := range names {
		m := modifiers[name]
		mods |= m.bit
		if err := c.modifier(ctx, "rawKeyDown", m.key, mods); err != nil {
			return 0, err
		}
	}
	return mods, nil
}

// freeKeys lets modifiers up, the last one first.
func (c *call) freeKeys(ctx context.Context, names []string, mods int) error {
	for i := len(names) - 1; i >= 0; i-- {
		m := modifiers[names[i]]
		mods &^= m.bit
		if err := c.modifier(ctx, "keyUp", m.key, mods); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) modifier(ctx context.Context, kind string, k key, mods int) error {
	return c.cdp(ctx, "", "Input.dispatchKeyEvent", map[string]any{"type": kind, "key": k.name, "code": k.code, "windowsVirtualKeyCode": k.number, "modifiers": mods}, nil, quickly)
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
