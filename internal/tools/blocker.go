package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"holdfast/internal/redact"
	"holdfast/messages"
)

// blockerTools answer what keeps a page from being shown, besides dialogs (X27).
var blockerTools = []Tool{
	define[blockerInput, unblocked](Tool{
		Name: "browser_blocker", Title: "Answer blocker", Group: "dialogs",
		Description: "Answer what keeps the tab from showing its page: basic_auth takes username and password; certificate is accepted for this tab, from now on. dismiss goes back.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runBlocker),
}

// The types of blockers. A tab has one at most.
const (
	blockedByAuth        = "basic_auth"
	blockedByCertificate = "certificate"
)

// blocker is what keeps a tab from showing the page of an address. Nothing answers it by itself.
type blocker struct {
	Type string `json:"type"`
	// URL is the address that is not shown.
	URL string `json:"url"`
	// Reason is the browser's own word, such as net::ERR_CERT_DATE_INVALID.
	Reason string `json:"reason,omitempty"`

	address *url.URL // whole, with what is masked in URL
}

type blockerInput struct {
	on
	Action   string `json:"action" enum:"accept|dismiss"`
	Username string `json:"username,omitempty" maxlen:"1000" jsonschema:"for basic_auth"`
	Password string `json:"password,omitempty" maxlen:"1000" jsonschema:"for basic_auth"`
}

type unblocked struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// blockedBy is the type of blocker that an error of a navigation means; "" is none.
func blockedBy(text string) string {
	switch {
	case text == "net::ERR_INVALID_AUTH_CREDENTIALS", text == "HTTP ERROR 401", text == "ERR_INVALID_AUTH_CREDENTIALS":
		return blockedByAuth
	case strings.HasPrefix(text, "net::ERR_CERT_"), strings.HasPrefix(text, "ERR_CERT_"):
		return blockedByCertificate
	}
	return ""
}

// blockerScript asks a page of the browser's own what it is about. It is no page of a site: such
// a one has an address that can be reached. The raw data are those that Chrome's own script shows.
const blockerScript = `(() => {
  const raw = globalThis.loadTimeDataRaw || {}, nav = performance.getEntriesByType('navigation')[0] || {};
  return {isOwn: location.protocol === 'chrome-error:', status: nav.responseStatus || 0, type: String(raw.type || ''), code: String(raw.errorCode || '')};
})()`

// blocker finds what keeps the tab from showing its page.
func (c *call) blocker(ctx context.Context) (found blocker, ok bool) {
	tree, err := c.localFrames(ctx, "")
	if err != nil || tree.Frame.Unreachable == "" {
		return blocker{}, false
	}
	var got evaluation
	var about struct {
		IsOwn  bool   `json:"isOwn"`
		Status int    `json:"status"`
		Type   string `json:"type"`
		Code   string `json:"code"`
	}
	if err := c.cdp(ctx, "", "Runtime.evaluate", map[string]any{"expression": blockerScript, "returnByValue": true}, &got, quickly); err != nil || json.Unmarshal(got.Result.Value, &about) != nil || !about.IsOwn {
		return blocker{}, false
	}
	at, err := url.Parse(tree.Frame.Unreachable)
	if err != nil {
		return blocker{}, false
	}
	at.User = nil // those of a log-in that failed
	found = blocker{URL: cut(redact.PageURL(at.String()), maxShownURL), Reason: cut(about.Code, 100), address: at}
	switch {
	case about.Status == 401:
		found.Type = blockedByAuth
	case about.Type == "SSL":
		found.Type = blockedByCertificate
	default:
		found.Type = blockedBy(about.Code)
	}
	return found, found.Type != ""
}

// unblocks are the answers to a blocker.
func (c *call) unblocks(b blocker) []messages.NextAction {
	dismiss := c.onPage("browser_blocker", "go back", messages.ToolInput{"action": messages.ActionDismiss})
	accept := messages.ToolInput{"action": messages.ActionAccept}
	why := "show the page in spite of its certificate"
	if b.Type == blockedByAuth {
		accept["username"], accept["password"] = "", ""
		why = "log in; fill in username and password"
	}
	return []messages.NextAction{c.onPage("browser_blocker", why, accept), dismiss}
}

func runBlocker(ctx context.Context, c *call, in blockerInput) (outcome, error) {
	found, ok := c.blocker(ctx)
	if !ok {
		return outcome{}, messages.Errorf(messages.CodeNotActionable, "nothing blocks the tab").With("why", "no blocker")
	}
	data := unblocked{found.Type, found.URL}
	if in.Action == string(messages.ActionDismiss) {
		return outcome{text: "Went back.", data: data}, c.goBack(ctx)
	}
	if found.Type == blockedByAuth {
		if err := c.logIn(ctx, found, in); err != nil {
			return outcome{}, err
		}
	} else if err := c.cdp(ctx, "", "Security.setIgnoreCertificateErrors", map[string]any{"ignore": true}, nil, quickly); err != nil {
		return outcome{}, err
	}
	text, err := goTo(ctx, c, messages.NavigateRequest{URL: found.address.String()})
	if err != nil {
		return outcome{}, err
	}
	return outcome{text: text, data: data, isOfPage: true}, nil
}

// logIn has the browser know the credentials: it keeps those that an address had, for its site.
// The page itself is then opened by its plain address, so that no script of it can read them from
// its timeline.
func (c *call) logIn(ctx context.Context, b blocker, in blockerInput) error {
	if in.Username == "" {
		return messages.Errorf(messages.CodeInvalidArgument, "give username and password")
	}
	at := *b.address
	at.User = url.UserPassword(in.Username, in.Password)
	target, err := c.page()
	if err != nil {
		return err
	}
	_, err = c.node.Navigate(ctx, c.task, messages.NavigateRequest{URL: at.String(), TargetID: target, WaitUntil: messages.WaitCommit})
	return err
}

// goBack goes to the entry of the history before the one that is blocked, or to an empty page.
func (c *call) goBack(ctx context.Context) error {
	var history struct {
		Current int `json:"currentIndex"`
		Entries []struct {
			ID  int    `json:"id"`
			URL string `json:"url"`
		} `json:"entries"`
	}
	if err := c.cdp(ctx, "", "Page.getNavigationHistory", struct{}{}, &history, quickly); err != nil {
		return err
	}
	address := "about:blank"
	if i := history.Current - 1; i >= 0 && i < len(history.Entries) {
		address = history.Entries[i].URL
	}
	_, err := goTo(ctx, c, messages.NavigateRequest{URL: address})
	if err != nil {
		return fmt.Errorf("go back: %w", err)
	}
	return nil
}
