package tools

import (
	"context"
	"time"

	"holdfast/messages"
)

type typeInput struct {
	on
	pointer
	acting
	Text   string `json:"text" maxlen:"1048576"`
	Submit bool   `json:"submit,omitempty" jsonschema:"press Enter after it"`
	Slowly bool   `json:"slowly,omitempty" jsonschema:"one key at a time, after what is there"`
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
