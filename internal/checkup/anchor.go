package checkup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"holdfast/messages"
	"holdfast/transport"
)

// takesTwo tries a second connection beside the first: one that comes and goes, and
// one that stays and has what the page waits for when the first has gone. It is the
// last check, for it ends the first connection.
func (p *patient) takesTwo(ctx context.Context) (string, error) {
	if err := p.visit(ctx); err != nil {
		return "", err
	}
	link, page, err := p.join(ctx)
	if err != nil {
		return "", err
	}
	first := p.link
	answer, err := p.hold(ctx, page)
	if err != nil {
		link.Close()
		<-link.Closed()
		return "", err
	}
	first.Close()
	<-first.Closed()
	p.link, p.root, p.page = link, listen(link, ""), page
	if err := answer(); err != nil {
		return "", fmt.Errorf("what a page waits for is lost with the first connection: %w", err)
	}
	if !p.answerable && !p.pausable {
		return "a second connection sees the same pages, and stays when the first ends", nil
	}
	return "a second connection answers what is open when the first ends", nil
}

// visit has a second connection come and go.
func (p *patient) visit(ctx context.Context) error {
	link, err := transport.Dial(ctx, p.endpoint, transport.DialOptions{})
	if err != nil {
		return fmt.Errorf("a second connection: %w", err)
	}
	var targets struct {
		Infos []struct {
			ID string `json:"targetId"`
		} `json:"targetInfos"`
	}
	err = listen(link, "").call(ctx, "Target.getTargets", object{}, &targets)
	if err == nil && !slices.ContainsFunc(targets.Infos, func(t struct {
		ID string `json:"targetId"`
	},
	) bool {
		return t.ID == p.target
	}) {
		err = errors.New("a second connection gets a browser of its own")
	}
	link.Close()
	<-link.Closed()
	if err != nil {
		return err
	}
	if err := p.page.eval(ctx, "1", nil); err != nil {
		return fmt.Errorf("the end of a second connection takes the first along: %w", err)
	}
	return nil
}

// join has a second connection on the page.
func (p *patient) join(ctx context.Context) (*transport.Mux, *ear, error) {
	link, err := transport.Dial(ctx, p.endpoint, transport.DialOptions{Events: wanted})
	if err != nil {
		return nil, nil, fmt.Errorf("a second connection, once more: %w", err)
	}
	var to struct {
		Session messages.SessionID `json:"sessionId"`
	}
	err = listen(link, "").call(ctx, "Target.attachToTarget", object{"targetId": p.target, "flatten": true}, &to)
	page := listen(link, to.Session)
	if err == nil {
		err = page.call(ctx, "Page.enable", object{}, nil)
	}
	if err != nil {
		link.Close()
		<-link.Closed()
		return nil, nil, fmt.Errorf("a second connection on the page: %w", err)
	}
	return link, page, nil
}

// hold has the page wait for what works here, a native dialog or else a pause, until
// the second connection knows of it. Answer is for that one to give.
func (p *patient) hold(ctx context.Context, second *ear) (answer func() error, err error) {
	switch {
	case p.answerable:
		if err := p.page.later(ctx, "window.got = confirm('holdfast doctor')"); err != nil {
			return nil, err
		}
		if err := second.next(ctx, "Page.javascriptDialogOpening", patience, nil); err != nil {
			return nil, fmt.Errorf("a second connection: %w", err)
		}
		return func() error { return second.accept(ctx) }, nil
	case p.pausable:
		for _, e := range []*ear{p.page, second} {
			if err := e.call(ctx, "Debugger.enable", object{}, nil); err != nil {
				return nil, err
			}
		}
		if err := p.page.later(ctx, pausing); err != nil {
			return nil, err
		}
		where, err := second.paused(ctx)
		if err != nil {
			return nil, fmt.Errorf("a second connection: %w", err)
		}
		return func() error { return second.release(ctx, where) }, nil
	}
	return func() error { return second.eval(ctx, "1", nil) }, nil
}
