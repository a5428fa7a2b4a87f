package checkup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/transport"
)

// takesTwo tries a second connection beside the first: one that comes and goes, and
// one that stays and has what the page waits for when the first has gone. It is the
// last check, for it ends the first connection.
func (p *patient) takesTwo(ctx context.Context) (string, error) {
	if err := p.stand(ctx); err != nil {
		return "", err
	}
	if err := p.visit(ctx); err != nil {
		return "", err
	}
	link, page, err := p.join(ctx)
	if err != nil {
		return "", err
	}
	first := p.link
	root := listen(link, "")
	answer, err := p.hold(ctx, root, page)
	if err != nil {
		link.Close()
		<-link.Closed()
		return "", err
	}
	first.Close()
	<-first.Closed()
	p.link, p.root, p.page = link, root, page
	if answer == nil {
		if err := page.eval(ctx, "1", nil); err != nil {
			return "", fmt.Errorf("a second connection ends with the first: %w", err)
		}
		return "", errUnheld
	}
	if err := answer(); err != nil {
		return "", fmt.Errorf("what a page waits for is lost with the first connection: %w", err)
	}
	return "a second connection answers what is open when the first ends", nil
}

// stand has the first connection stand, which a message that was too long may have ended.
func (p *patient) stand(ctx context.Context) error {
	if p.link.Err() == nil {
		return nil
	}
	<-p.link.Closed()
	link, page, err := p.join(ctx)
	if err != nil {
		return fmt.Errorf("the first has ended, and: %w", err)
	}
	p.link, p.root, p.page = link, listen(link, ""), page
	return page.call(ctx, "Runtime.enable", object{}, nil)
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
	page, err := listen(link, "").attach(ctx, p.target)
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

var errUnheld = errors.New("a second connection sees the same pages, and stays when the first ends; that it answers what is open cannot be tried where no page can be made to wait")

// hold has the page wait for what works here, a native dialog, a pause or else a request,
// until it is known to wait. Answer is for the second connection to give; nil says that
// nothing works.
func (p *patient) hold(ctx context.Context, root, page *ear) (answer func() error, err error) {
	switch {
	case p.canAnswer:
		if err := p.page.later(ctx, "window.got = confirm('holdfast doctor')"); err != nil {
			return nil, err
		}
		if err := page.next(ctx, "Page.javascriptDialogOpening", patience, nil); err != nil {
			return nil, fmt.Errorf("a second connection: %w", err)
		}
		return func() error { return page.accept(ctx) }, nil
	case p.canPause:
		for _, e := range []*ear{p.page, page} {
			if err := e.debug(ctx); err != nil {
				return nil, err
			}
		}
		if err := p.page.later(ctx, pausing); err != nil {
			return nil, err
		}
		where, err := page.paused(ctx)
		if err != nil {
			return nil, fmt.Errorf("a second connection: %w", err)
		}
		return func() error { return page.release(ctx, where) }, nil
	case p.canHold:
		return p.holdRequest(ctx, root, page)
	}
	return nil, nil
}

// holdRequest has the page wait for a request. Whichever connection is told of it first,
// the second has it once the first is gone (M11).
func (p *patient) holdRequest(ctx context.Context, root, page *ear) (answer func() error, err error) {
	if err := hearRequests(ctx, p.root, p.page); err != nil {
		return nil, err
	}
	if err := hearRequests(ctx, root, page); err != nil {
		return nil, fmt.Errorf("a second connection: %w", err)
	}
	if err := p.page.later(ctx, requesting); err != nil {
		return nil, err
	}
	fulfil := func(r request) error {
		if err := root.fulfil(ctx, r, "given"); err != nil {
			return err
		}
		return page.got(ctx, "given")
	}
	r, bySecond, err := told(ctx, p.root, root)
	if err != nil {
		return nil, err
	}
	return func() error {
		if !bySecond {
			if err := root.next(ctx, "Fetch.requestPaused", patience, &r); err != nil {
				return err
			}
		}
		return fulfil(r)
	}, nil
}

// told waits until either connection has been told of a request.
func told(ctx context.Context, first, second *ear) (r request, bySecond bool, err error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		var ev transport.Event
		select {
		case ev = <-first.events:
			bySecond = false
		case ev = <-second.events:
			bySecond = true
		case <-timer.C:
			return r, false, fmt.Errorf("a request is told to neither connection within %s", patience)
		case <-ctx.Done():
			return r, false, ctx.Err()
		}
		if ev.Method == "Fetch.requestPaused" {
			return r, bySecond, json.Unmarshal(ev.Params, &r)
		}
	}
}
