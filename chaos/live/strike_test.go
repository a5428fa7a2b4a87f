package live_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/messages"
)

// strike kills what k says, in its manner, and returns how to end what it left
// half-open.
func (d *drill) strike(k kill) (mend func(), err error) {
	primary, anchor := d.links()
	return d.strikeAt(k, primary, anchor)
}

// strikeAt is strike for links whose connections are known.
func (d *drill) strikeAt(k kill, primary, anchor int) (mend func(), err error) {
	if primary == 0 || anchor == 0 {
		return nil, fmt.Errorf("a link is missing: primary %d, anchor %d", primary, anchor)
	}
	d.trace.add("KILL %s (connections %d and %d)", k, primary, anchor)
	if k.manner == byOrder {
		res, err := d.node.Kill(context.Background(), d.id, k.target)
		if err != nil || len(res.Killed) == 0 {
			return nil, fmt.Errorf("kill %s: %v, %w", k.target, res.Killed, err)
		}
		return func() {}, nil
	}
	var numbers []int
	if k.target.HasPrimary() {
		numbers = append(numbers, primary)
	}
	if k.target.HasAnchor() {
		numbers = append(numbers, anchor)
	}
	if k.reverse && len(numbers) == 2 {
		numbers[0], numbers[1] = numbers[1], numbers[0]
	}
	for i, n := range numbers {
		if i > 0 {
			<-time.After(k.gap)
		}
		switch k.manner {
		case byReset:
			d.proxy.Kill(n)
		case byFinish:
			d.proxy.Finish(n)
		case halfOpen:
			d.proxy.Hold(n)
		case slowly:
			d.proxy.Slow(n, 15*time.Millisecond)
		}
	}
	mend = func() {}
	switch k.manner {
	case halfOpen:
		// The other side of a dead path finds out much later.
		mend = func() {
			for _, n := range numbers {
				d.proxy.Kill(n)
			}
		}
	case slowly:
		<-time.After(100 * time.Millisecond)
		for _, n := range numbers {
			d.proxy.Kill(n)
		}
	}
	return mend, nil
}

// fell waits until what k killed is gone and has come back.
func (d *drill) fell(k kill, before *messages.Snapshot, primary, anchor int) error {
	_, err := d.await("the links are back", func(s *messages.Snapshot) bool {
		p, a := d.links()
		return s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp && p > 0 && a > 0 &&
			(!k.target.HasPrimary() || s.Connection.Reconnects > before.Connection.Reconnects && p != primary) &&
			(!k.target.HasAnchor() || a != anchor)
	})
	return err
}

// run carries out the plan.
func (d *drill) run(list []kill) error {
	for i, k := range list {
		if err := d.step(i, k); err != nil {
			return fmt.Errorf("kill %d, %s: %w", i+1, k, err)
		}
		if err := d.violations(); err != nil {
			return fmt.Errorf("up to kill %d, %s: %w", i+1, k, err)
		}
	}
	return nil
}

func (d *drill) step(i int, k kill) error {
	before, err := d.whole()
	if err != nil {
		return err
	}
	if k.target.HasAnchor() {
		d.stand()
	}
	d.still.Lock()
	standing := true
	moveOn := func() {
		if standing {
			standing = false
			d.still.Unlock()
		}
	}
	defer moveOn()
	primary, anchor := d.links()
	var q *question
	if k.dialog != "" {
		if q, err = d.ask(i, k); err != nil {
			return err
		}
		if k.target != messages.LinksBoth {
			moveOn() // who navigates now is told of the dialog
		}
	} else {
		d.happen(k.world)
		if k.world == nothing {
			moveOn()
		}
	}
	mend, err := d.strike(k)
	if err != nil {
		return err
	}
	if q != nil {
		if err := q.settle(k, mend); err != nil {
			return err
		}
	}
	if err := d.fell(k, before, primary, anchor); err != nil {
		return err
	}
	mend()
	moveOn()
	if _, err := d.whole(); err != nil {
		return err
	}
	d.still.Lock()
	defer d.still.Unlock()
	return errors.Join(d.matches(), d.checkCalls())
}

// stand lets both links stand beside each other for a while. Where each falls
// as soon as the other has come, three times in a row, the node takes the
// browser for one that allows a single client, and does without an anchor.
func (d *drill) stand() { <-time.After(600 * time.Millisecond) }

// happen changes the page, at the same moment as the link is killed.
func (d *drill) happen(w happening) {
	main := d.browser.MainFrame(d.page)
	switch w {
	case aSwap:
		d.browser.NavigateFrame(d.iframe(), "http://c.test/swapped")
	case aReturns:
		f := d.iframe()
		d.browser.NavigateFrame(f, "http://a.test/home-again")
		d.browser.NavigateFrame(f, "http://b.test/out-again")
	case aFrame:
		added := d.browser.AddFrame(main, "http://d.test/added")
		d.browser.RemoveFrame(d.added)
		d.added = added
	case aPopup:
		for _, p := range d.popups {
			d.browser.ClosePage(p)
		}
		d.popups = []messages.TargetID{d.browser.OpenPopup(main, "http://a.test/popup")}
	}
}
