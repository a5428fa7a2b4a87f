package tools

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"holdfast/messages"
)

// decoys are words in titles and addresses of pages that no person looks at (T12): helpers of
// applications, and the developer's own tools.
var decoys = []string{"request handler", "devtools", "background page", "background host", "service worker"}

// isDecoy says that a page is no tab for an agent, unless it is asked for.
func isDecoy(p messages.Page) bool {
	title := strings.ToLower(p.Title)
	return strings.HasPrefix(p.URL, "devtools:") || slices.ContainsFunc(decoys, func(d string) bool { return strings.Contains(title, d) })
}

// matching finds the oldest tab whose address or title has a text, in any letter case.
func (c *call) matching(text string) (messages.TargetID, error) {
	snap, err := c.snapshot()
	if err != nil {
		return "", err
	}
	all := c.memory.tabs(snap)
	want := strings.ToLower(text)
	var there []string
	for _, t := range all.list {
		if strings.Contains(strings.ToLower(t.page.URL), want) || strings.Contains(strings.ToLower(t.page.Title), want) {
			return t.page.TargetID, nil
		}
		if len(there) < maxListed {
			there = append(there, fmt.Sprintf("%s %q %s", t.id, cut(t.page.Title, 100), cut(t.page.URL, 200)))
		}
	}
	if len(there) == 0 {
		return "", messages.Errorf(messages.CodeTargetNotFound, "the task has no tabs")
	}
	return "", messages.Errorf(messages.CodeTargetNotFound, "no tab has %q in its address or title", cut(text, 100)).With("tabs", there)
}

// matchWithin is how long an application may take to open the page that is asked for.
const matchWithin = 10 * time.Second

// chooseMain makes the tab main that a text describes, and waits for one that is about to come.
func (c *call) chooseMain(ctx context.Context, text string) error {
	waiting, cancel := context.WithTimeout(ctx, matchWithin)
	defer cancel()
	events, err := c.node.Watch(waiting, c.task, 0, false)
	if err != nil {
		return err
	}
	defer events.Close()
	for {
		target, err := c.matching(text)
		if err == nil {
			return c.memory.name(mainTab, target)
		}
		if messages.CodeOf(err) != messages.CodeTargetNotFound {
			return err
		}
		if _, ended := events.Next(waiting); ended != nil {
			if ended == io.EOF { //nolint:errorlint // the stream's own word for its end
				return messages.Errorf(messages.CodeUpstreamUnavailable, "the task ended before the tab was there")
			}
			return err
		}
	}
}

// windowWithin is how long an application may take to show its first page.
const windowWithin = 3 * time.Second

// awaitWindow waits for the first page of an application that has begun. One that shows none goes
// without.
func (c *call) awaitWindow(ctx context.Context) {
	waiting, cancel := context.WithTimeout(ctx, windowWithin)
	defer cancel()
	events, err := c.node.Watch(waiting, c.task, 0, false)
	if err != nil {
		return
	}
	defer events.Close()
	for {
		snap, err := c.snapshot()
		if err != nil || slices.ContainsFunc(snap.Pages, func(p messages.Page) bool { return p.URL != "" && p.URL != "about:blank" && !isDecoy(p) }) {
			return
		}
		if _, err := events.Next(waiting); err != nil {
			return
		}
	}
}

// viewport is the size of a tab, in CSS pixels, and how many pixels of a screen one of them is.
type viewport struct {
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Scale  float64 `json:"scale,omitempty"`
}

// The bounds of a viewport (T6).
const (
	mostPixels = 10_000
	mostScale  = 10
)

// resize gives the tab of the call a viewport.
func (c *call) resize(ctx context.Context, in tabsInput) error {
	v := *in.Viewport
	if v.Scale == 0 {
		v.Scale = 1
	}
	switch {
	case in.Action != "new" && in.Action != "select":
		return messages.Errorf(messages.CodeInvalidArgument, "viewport goes with new and select")
	case !(v.Width >= 1 && v.Width <= mostPixels && v.Height >= 1 && v.Height <= mostPixels && v.Scale > 0 && v.Scale <= mostScale):
		return messages.Errorf(messages.CodeInvalidArgument, "viewport: width and height from 1 to %d, scale up to %d", mostPixels, mostScale)
	}
	return c.cdp(ctx, "", "Emulation.setDeviceMetricsOverride", map[string]any{"width": v.Width, "height": v.Height, "deviceScaleFactor": v.Scale, "mobile": false}, nil, quickly)
}
