package tools

import (
	"context"
	"encoding/json"
	"time"
)

// lookAfter adds a look at the page to what an action says, where that was asked for. The action is
// done: a page that cannot be read is no error of it.
func (c *call) lookAfter(ctx context.Context, out *outcome, a acting, isSamePage bool) {
	if !a.Snapshot {
		return
	}
	if elements, err := c.awaitQuiet(ctx); err != nil || elements > maxLookedAt {
		out.text += "\nThe page is busy or large, and was not read along. Name elements by role and name, or take browser_snapshot."
		return
	}
	if page, err := runSnapshot(ctx, c, snapshotInput{on: on{Tab: c.tabName}, Diff: isSamePage}); err == nil {
		out.text += "\n" + page.text
		out.next = append(out.next, page.next...)
	}
}

// quietPatience is how long a page may go on to change after an action, before it is looked at.
const quietPatience = 2 * time.Second

// maxLookedAt is how many elements a page may have that is read along with an action: to capture more
// keeps its renderer busy for seconds, in which nothing else can be done there.
const maxLookedAt = 40_000

// awaitQuiet waits until what an action has begun in the page has changed it: a list that opens, an
// answer that is shown. It returns how many elements there are then. The error is of a page that is
// busy all the time; one that leaves, or that a dialog holds, has none.
func (c *call) awaitQuiet(ctx context.Context) (elements int, err error) {
	within, cancel := context.WithTimeout(ctx, quietPatience)
	defer cancel()
	var got evaluation
	err = c.cdp(within, "", "Runtime.evaluate", map[string]any{"expression": quietScript, "awaitPromise": true, "returnByValue": true}, &got, quickly)
	if err != nil && within.Err() == nil {
		return 0, nil //nolint:nilerr // the look says what holds the page
	}
	_ = json.Unmarshal(got.Result.Value, &elements) // none of a page without an answer
	return elements, err
}
