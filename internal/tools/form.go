package tools

import (
	"context"
	"fmt"

	"holdfast/messages"
)

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
