package tools

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"holdfast/messages"
)

// grantPatience is how long a browser may take to grant a permission.
const grantPatience = 5 * time.Second

// permissionScript says which permissions of a list a document does not have. One whose state no
// document can read is not among them.
const permissionScript = `(names => Promise.all(names.map(name => navigator.permissions.query({name}).then(p => p.state === 'granted' ? '' : name, () => ''))).then(all => all.filter(Boolean)))`

// grant grants a permission, and looks whether the page has it then: the browser may refuse it, to a
// frame that the page does not let ask, or to an origin that has none.
func (c *call) grant(ctx context.Context, b blocker, in blockerInput, out outcome) (outcome, error) {
	at := place{target: b.TargetID, frame: b.FrameID}
	if string(b.FrameID) != string(b.TargetID) {
		at.session = b.FrameID
	}
	world, unread := c.world(ctx, at)
	if err := c.close(ctx, b, in.Action); err != nil {
		return outcome{}, err
	}
	if unread != nil {
		out.text = "The browser was told to grant " + b.Permission + "; the page cannot be asked whether it did."
		return out, nil
	}
	var lacking []string
	expression := permissionScript + "(" + string(asJSON(strings.Split(b.Permission, ","))) + ")"
	for began := time.Now(); ; {
		var got evaluation
		err := c.cdp(ctx, at.session, "Runtime.evaluate", map[string]any{"expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true}, &got, quickly)
		if err != nil || json.Unmarshal(got.Result.Value, &lacking) != nil || len(lacking) == 0 {
			// A document that is gone has nothing to be refused.
			out.text = "Granted to the site: " + b.Permission + "."
			return out, nil
		}
		if time.Since(began) > grantPatience {
			return out, messages.Errorf(messages.CodeCDPError, "the browser did not grant %s: the page or its frame may not have it", strings.Join(lacking, " and "))
		}
		if err := pause(ctx, pollEvery); err != nil {
			return out, err
		}
	}
}
