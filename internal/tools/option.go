package tools

import (
	"context"
	"fmt"

	"holdfast/messages"
)

type selectInput struct {
	on
	pointer
	acting
	Values []string `json:"values"`
}

type selectOutput struct {
	Selected []string `json:"selected"`
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
