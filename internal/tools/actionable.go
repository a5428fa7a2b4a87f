package tools

import (
	"context"
	"time"

	"holdfast/messages"
)

// The patience of actions.
const (
	defaultAction = 5 * time.Second
	coverPatience = 300 * time.Millisecond // for a cover that leaves by itself
	pollEvery     = 30 * time.Millisecond
)

// spot is where an element is, or what keeps it from being acted on.
type spot struct {
	X        float64 `json:"x"`
	Y        float64 `json:"y"`
	Left     float64 `json:"left"`
	Top      float64 `json:"top"`
	Width    float64 `json:"width"`
	Height   float64 `json:"height"`
	IsMoving bool    `json:"moving"`
	Why      string  `json:"why"`
	By       string  `json:"by"`
}

// pause waits between two looks at a page.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return silence(ctx, ctx.Err())
	}
}

// actionable waits until an element is visible, enabled, at rest and not covered, and returns
// its middle in the viewport of the page. wants is look for what only needs it visible.
func (c *call) actionable(ctx context.Context, e element, wants string, within time.Duration) (spot, error) {
	began := time.Now()
	var last spot
	for {
		var now spot
		if err := c.run(ctx, e, hitScript, &now, wants); err != nil {
			return now, err
		}
		if now.Why == "gone" {
			return now, messages.Errorf(messages.CodeStaleRef, "%s is not in the page any more; nothing was done. Take a new snapshot", e.what)
		}
		isStill := !now.IsMoving || now.Left == last.Left && now.Top == last.Top
		if now.Why == "" && isStill {
			up, err := c.toPage(ctx, e.place, now)
			if err != nil || up.Why == "" {
				return up, err
			}
			now = up
		}
		waited := time.Since(began)
		if waited > within || now.Why == "covered" && waited > coverPatience {
			return now, c.notActionable(e, now)
		}
		last = now
		if err := pause(ctx, pollEvery); err != nil {
			return now, err
		}
	}
}

func (c *call) notActionable(e element, s spot) error {
	switch s.Why {
	case "covered":
		return messages.Errorf(messages.CodeNotActionable, "%s is covered by %s; nothing was done", e.what, cut(s.By, 300)).With("why", s.Why)
	case "":
		return messages.Errorf(messages.CodeNotActionable, "%s does not come to rest; nothing was done", e.what).With("why", "moving")
	}
	return messages.Errorf(messages.CodeNotActionable, "%s is %s; nothing was done", e.what, s.Why).With("why", s.Why)
}

// toPage takes a spot of a frame to the viewport of the page, through every frame that holds it.
func (c *call) toPage(ctx context.Context, at place, s spot) (spot, error) {
	for range 16 {
		parent, err := c.parentOf(ctx, at)
		if err != nil || parent.frame == "" {
			return s, err
		}
		backend, err := c.ownerOf(ctx, parent.session, at.frame)
		if err != nil {
			return s, err
		}
		owner, err := c.hold(ctx, parent, backend)
		if err != nil {
			return s, err
		}
		var up spot
		if err := c.run(ctx, owner, upScript, &up, s.X, s.Y); err != nil {
			return s, err
		}
		s.X, s.Y, s.Why, s.By = up.X, up.Y, up.Why, up.By
		if s.Why != "" {
			return s, nil
		}
		at = parent
	}
	return s, messages.Errorf(messages.CodeNotActionable, "the element is too many frames deep; nothing was done")
}

// parentOf returns the frame that holds a frame; the zero place for the main frame.
func (c *call) parentOf(ctx context.Context, at place) (place, error) {
	snap, err := c.node.Snapshot(c.task, messages.SnapshotOptions{TargetID: at.target, Full: true})
	if err != nil {
		return place{}, err
	}
	if messages.FrameID(at.target) == at.frame || snap.FrameTree == nil || snap.FrameTree.Top.FrameID == at.frame {
		return place{}, nil
	}
	session := map[messages.FrameID]messages.FrameID{}
	for _, f := range snap.FrameTree.Children {
		session[f.FrameID] = session[f.ParentFrameID]
		if f.IsOOPIF {
			session[f.FrameID] = f.FrameID
		}
		if f.FrameID == at.frame {
			return place{target: at.target, session: session[f.ParentFrameID], frame: f.ParentFrameID}, nil
		}
	}
	return place{}, messages.Errorf(messages.CodeFrameNotFound, "the frame of the element is gone; nothing was done")
}
