package tools

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"holdfast/internal/tools/outline"
	"holdfast/messages"
)

// lookTools show pages.
var lookTools = []Tool{
	define[snapshotInput, snapshotOutput](Tool{
		Name: "browser_snapshot", Title: "Page snapshot", Group: "pages", IsCore: true,
		Description: "The page as indented text, all frames included, with a ref such as [e12] for each element that can be acted on. Open dialogs stand on top. Answers for a page that hangs too.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runSnapshot),
}

// defaultChars is the budget of a snapshot's text (X28).
const defaultChars = 15_000

type snapshotInput struct {
	on
	Full     bool   `json:"full,omitempty" jsonschema:"every element with a role, and addresses of links"`
	MaxChars int    `json:"max_chars,omitempty" min:"500" max:"1000000" jsonschema:"default 15000"`
	FrameID  string `json:"frame_id,omitempty" jsonschema:"only this frame: its frame_id, or the ref of its iframe"`
	Diff     bool   `json:"diff,omitempty" jsonschema:"only what changed since the last snapshot of the tab"`
}

type snapshotOutput struct {
	PageState     messages.PageState      `json:"page_state"`
	IsTruncated   bool                    `json:"truncated,omitempty"`
	Lines         int                     `json:"lines"`
	AllLines      int                     `json:"all_lines"`
	FramesMissing int                     `json:"frames_missing,omitempty"`
	TreeAgeMS     int64                   `json:"tree_age_ms"`
	RecentDialogs []messages.ClosedDialog `json:"recent_dialogs"`
	FrameTree     *messages.FrameTree     `json:"frame_tree,omitempty"`
	// Blockers are what the page asks for, and what keeps it from being shown, besides dialogs (X27).
	Blockers []messages.Blocker `json:"blockers"`
}

func runSnapshot(ctx context.Context, c *call, in snapshotInput) (outcome, error) {
	target, err := c.page()
	if err != nil {
		return outcome{}, err
	}
	var page *captured
	if _, wasRead := c.memory.lookBack(target); !wasRead {
		if err := c.awaitBusy(ctx, target); err != nil {
			return outcome{}, err
		}
	}
	state := c.stateOf(target)
	if state == messages.PageOK {
		page, err = c.captureWhileOK(ctx, target)
		if err != nil {
			page, state = nil, c.stateOf(target)
			if state == messages.PageOK && messages.CodeOf(err) != messages.CodeDeadline {
				return outcome{}, err
			}
		}
	}
	var b strings.Builder
	var spill []byte
	out := snapshotOutput{PageState: state, RecentDialogs: []messages.ClosedDialog{}, Blockers: []messages.Blocker{}}
	c.head(&b, target, page != nil, &out)
	out.Blockers = append(out.Blockers, c.blocked(ctx, target, page != nil && page.unreachable != "")...)
	writeBlockers(&b, out.Blockers)
	if page == nil {
		b.WriteString(c.fromBefore(target, in, &out))
	} else if spill, err = c.outline(&b, page, in, &out); err != nil {
		return outcome{}, err
	}
	o := outcome{text: b.String(), data: out, isOfPage: true, category: "inspection", spill: spill}
	snap, err := c.snapshot()
	if err != nil {
		return o, err
	}
	o.next = c.answers(snap.PendingDialogs)
	for _, b := range out.Blockers {
		o.next = append(o.next, c.unblocks(b)...)
	}
	switch state {
	case messages.PageHung, messages.PageCrashed, messages.PageDialogUnreachable:
		o.next = append(o.next, c.recoveries(state)...)
	}
	return o, nil
}

// captureWhileOK reads the page, and gives up as soon as the page is known not to answer. One that is
// only being loaded has a moment more.
func (c *call) captureWhileOK(ctx context.Context, target messages.TargetID) (*captured, error) {
	ctx, stop, err := c.whileOK(ctx, target, func(s messages.PageState) (time.Duration, bool) {
		if s == messages.PageHung {
			return hungPatience, true
		}
		return 0, s != messages.PageOK
	})
	defer stop()
	if err != nil {
		return nil, err
	}
	if err := c.awaitParsed(ctx); err != nil {
		return nil, err
	}
	return c.capture(ctx)
}

// parsePatience is how long a snapshot waits for the rest of a document that is still coming.
const parsePatience = time.Second

// awaitParsed waits for a moment until the whole document is there. The error is of a page that says
// nothing at all.
func (c *call) awaitParsed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, actionPatience)
	defer cancel()
	for began := time.Now(); time.Since(began) < parsePatience; {
		var got evaluation
		err := c.cdp(ctx, "", "Runtime.evaluate", map[string]any{"expression": "document.readyState === 'loading'", "returnByValue": true}, &got, quickly)
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil || string(got.Result.Value) != "true":
			return nil // what there is can be read
		}
		if err := pause(ctx, commitNotice); err != nil {
			return err
		}
	}
	return nil
}

// stateOf is the state of a page, from memory.
func (c *call) stateOf(target messages.TargetID) messages.PageState {
	if snap, err := c.snapshot(); err == nil {
		for _, p := range snap.Pages {
			if p.TargetID == target {
				return p.PageState
			}
		}
	}
	return ""
}

// head writes what stands on top: the page, its state, what blocks it.
func (c *call) head(b *strings.Builder, target messages.TargetID, isRead bool, out *snapshotOutput) {
	snap, err := c.node.Snapshot(c.task, messages.SnapshotOptions{TargetID: target})
	if err != nil {
		return
	}
	for _, p := range snap.Pages {
		if p.TargetID == target {
			fmt.Fprintf(b, "page %q %s\n", cut(p.Title, 200), cut(p.URL, 500))
			// A page that was read just now does not hang: it was the reading that kept it busy.
			if p.PageState != messages.PageOK && !(isRead && p.PageState == messages.PageHung) {
				fmt.Fprintf(b, "PAGE STATE %s\n", p.PageState)
			}
		}
	}
	writeDialogs(b, snap.PendingDialogs)
	if len(snap.Pages) > 1 {
		fmt.Fprintf(b, "%d tabs\n", len(snap.Pages))
	}
	if snap.RecentDialogs != nil {
		out.RecentDialogs = snap.RecentDialogs
	}
	out.FrameTree = snap.FrameTree
}

// fromBefore is the last outline of the tab, for a page that does not answer now.
func (c *call) fromBefore(target messages.TargetID, in snapshotInput, out *snapshotOutput) string {
	last, ok := c.memory.lookBack(target)
	if !ok {
		return "The page cannot be read now, and was not read before.\n"
	}
	age := time.Since(last.at)
	out.TreeAgeMS = age.Milliseconds()
	text, left := last.outline.Text(budgetOf(in))
	out.IsTruncated, out.Lines, out.AllLines = left.IsCut, left.Lines, left.AllLines
	return fmt.Sprintf("The page cannot be read now. It was so %.0f s ago:\n%s", age.Seconds(), text)
}

func budgetOf(in snapshotInput) int {
	if in.MaxChars == 0 {
		return defaultChars
	}
	return in.MaxChars
}

// outline writes the page, or what changed of it. Where it has to cut, it returns all of it.
func (c *call) outline(b *strings.Builder, page *captured, in snapshotInput, out *snapshotOutput) (whole []byte, err error) {
	root := page.root
	if in.FrameID != "" {
		frame := messages.FrameID(in.FrameID)
		if r, ok := c.memory.ref(in.FrameID); ok {
			frame = ""
			for d, at := range page.places {
				if at.frame == r.frame && d.Frames[r.backend] != nil {
					frame = messages.FrameID(d.Frames[r.backend].FrameID)
				}
			}
		}
		if root = page.find(frame); root == nil {
			return nil, messages.Errorf(messages.CodeFrameNotFound, "the page has no frame %s", cut(in.FrameID, 100))
		}
	}
	now := outline.Build(root, page.refs(c.memory), outline.Options{IsFull: in.Full})
	key := fmt.Sprint(in.FrameID, in.Full)
	before := c.memory.look(c.target, seen{frame: key, outline: now.Bounded(maxSeenChars), at: time.Now()})
	out.FramesMissing, out.AllLines = page.missing, len(now.Lines)
	if page.missing > 0 {
		fmt.Fprintf(b, "%d frames could not be read\n", page.missing)
	}
	room := max(budgetOf(in)-b.Len(), 200)
	if in.Diff && before.outline != nil && before.frame == key {
		b.WriteString("changed since the last snapshot:\n" + outline.Diff(before.outline, now, room))
		return nil, nil
	}
	text, left := now.Text(room)
	out.IsTruncated, out.Lines = left.IsCut, left.Lines
	b.WriteString(text)
	if left.IsCut && c.artifacts != nil {
		all, _ := now.Text(math.MaxInt)
		whole = []byte(all)
	}
	return whole, nil
}
