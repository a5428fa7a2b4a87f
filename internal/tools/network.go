package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"holdfast/internal/redact"
	"holdfast/messages"
)

// networkTools show what pages have loaded.
var networkTools = []Tool{
	define[networkInput, networkOutput](Tool{
		Name: "browser_network_requests", Title: "Network requests", Group: "reports",
		Description: "The requests of the page's document and its frames so far, with status and duration, from the browser's performance timeline. har keeps those that fit as a HAR file, without headers and bodies.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runNetwork),
}

type networkInput struct {
	on
	Filter string `json:"filter,omitempty" maxlen:"1000" jsonschema:"part of the address"`
	Failed bool   `json:"failed,omitempty" jsonschema:"only status 400 and above, and those without an answer"`
	Max    int    `json:"max,omitempty" min:"1" max:"250" jsonschema:"newest so many, default 50"`
	HAR    bool   `json:"har,omitempty" jsonschema:"also as a HAR file, an artifact"`
}

// networkRequest is one request of a page's timeline. What only a HAR file shows stands in no result.
type networkRequest struct {
	URL    string  `json:"url"`
	Kind   string  `json:"kind"`
	Status int     `json:"status,omitempty"`
	TookMS float64 `json:"took_ms"`
	Bytes  int64   `json:"bytes"`
	Start  float64 `json:"start_ms"`
	// IsLost says that no answer came.
	IsLost bool `json:"no_answer,omitempty"`

	harEntry `json:"-"`
}

// hasFailed says that the request brought an error, or nothing.
func (r networkRequest) hasFailed() bool { return r.Status >= 400 || r.IsLost }

// words are the request as a text shows it.
func (r networkRequest) words() string {
	status := "-"
	switch {
	case r.IsLost:
		status = "no answer"
	case r.Status != 0:
		status = fmt.Sprint(r.Status)
	}
	return fmt.Sprintf("%s %s %s %.0f ms", status, r.Kind, cut(r.URL, 200), r.TookMS)
}

type networkOutput struct {
	Requests []networkRequest `json:"requests"`
	// All counts the requests that fit, shown or not.
	All int `json:"all"`
	// Failed counts those of them that failed.
	Failed int `json:"failed"`
}

// timelineScript lists a frame's requests with those of frames of its own origin. The timeline
// of a document holds 250 resources unless the page asks for more. A request of the document's own
// origin that has neither status nor bytes nor protocol got no answer; of another origin the
// timeline may hide them.
const timelineScript = `(() => {
  const out = [];
  const add = (w, depth) => {
    let all;
    try { all = [...w.performance.getEntriesByType('navigation'), ...w.performance.getEntriesByType('resource')]; } catch { return; }
    const origin = w.performance.timeOrigin, round = n => Math.round(n * 10) / 10;
    for (const e of all.slice(-500)) if (out.length < 2000) {
      const status = e.responseStatus || 0;
      out.push({url: e.name.slice(0, 2000), kind: e.initiatorType, status, took_ms: round(e.duration), bytes: e.transferSize || 0, start_ms: Math.round(origin + e.startTime),
        no_answer: status === 0 && e.initiatorType !== 'beacon' && !e.transferSize && !e.decodedBodySize && !e.nextHopProtocol && e.name.startsWith(w.location.origin + '/'),
        har: {protocol: String(e.nextHopProtocol || '').slice(0, 40), type: String(e.contentType || '').slice(0, 200), size: e.decodedBodySize || 0, coded: e.encodedBodySize || 0,
          at: [e.startTime, e.domainLookupStart, e.domainLookupEnd, e.connectStart, e.secureConnectionStart, e.connectEnd, e.requestStart, e.responseStart, e.responseEnd].map(round)}});
    }
    if (depth < 8) for (let i = 0; i < Math.min(w.length, 200); i++) add(w[i], depth + 1);
  };
  add(window, 0);
  return out;
})()`

const defaultRequests = 50

// requests are those of the page of the call and of its frames, the oldest first. Secrets in their
// addresses are masked.
func (c *call) requests(ctx context.Context) ([]networkRequest, error) {
	target, err := c.page()
	if err != nil {
		return nil, err
	}
	snap, err := c.node.Snapshot(c.task, messages.SnapshotOptions{TargetID: target, Full: true})
	if err != nil {
		return nil, err
	}
	out := []networkRequest{}
	for _, f := range sessionsOf(snap) {
		var got evaluation
		err := c.cdp(ctx, f, "Runtime.evaluate", map[string]any{"expression": timelineScript, "returnByValue": true}, &got, quickly)
		if err != nil && f == "" {
			return nil, err
		}
		var list []struct {
			networkRequest
			HAR harEntry `json:"har"`
		}
		if err != nil || json.Unmarshal(got.Result.Value, &list) != nil {
			continue // a frame that came or left meanwhile, or one that lies
		}
		for _, l := range list {
			r := l.networkRequest
			r.URL, r.Kind, r.harEntry = cut(redact.PageURL(r.URL), 500), cut(r.Kind, 40), l.HAR
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b networkRequest) int { return int(max(-1, min(1, a.Start-b.Start))) })
	return out, nil
}

// sessionsOf are the CDP sessions of a page: its own, "", and those of its out-of-process frames.
func sessionsOf(snap *messages.Snapshot) []messages.FrameID {
	out := []messages.FrameID{""}
	if snap.FrameTree != nil {
		for _, f := range snap.FrameTree.Children {
			if f.IsOOPIF && len(out) <= captureFrames {
				out = append(out, f.FrameID)
			}
		}
	}
	return out
}

func runNetwork(ctx context.Context, c *call, in networkInput) (outcome, error) {
	all, err := c.requests(ctx)
	if err != nil {
		return outcome{}, err
	}
	all = slices.DeleteFunc(all, func(r networkRequest) bool {
		return in.Filter != "" && !strings.Contains(r.URL, in.Filter) || in.Failed && !r.hasFailed()
	})
	most := in.Max
	if most == 0 {
		most = defaultRequests
	}
	out := networkOutput{Requests: all[max(0, len(all)-most):], All: len(all)}
	var text strings.Builder
	fmt.Fprintf(&text, "%d requests", out.All)
	if len(out.Requests) < out.All {
		fmt.Fprintf(&text, ", the newest %d", len(out.Requests))
	}
	text.WriteString("\n")
	for _, r := range out.Requests {
		text.WriteString("- " + r.words() + "\n")
	}
	said := strings.TrimSpace(text.String())
	done := outcome{text: cutMarked(said, maxText), isOfPage: true, spill: beyond(said, maxText)}
	var last *networkRequest
	for i, r := range all {
		if r.hasFailed() {
			out.Failed++
			last = &all[i]
		}
	}
	done.data = out
	if in.HAR {
		if err := c.keepHAR(ctx, &done, all); err != nil {
			return outcome{}, err
		}
	}
	if last != nil {
		done.next = c.triage(*last, in)
	}
	return done, nil
}

// triage are the calls that lead on from a request that failed (W32). None of them sends it again.
func (c *call) triage(r networkRequest, in networkInput) []messages.NextAction {
	out := []messages.NextAction{c.onPage("browser_console_messages", "what the page made of it", nil)}
	path := r.URL
	if u, err := url.Parse(r.URL); err == nil {
		path = u.Path
	}
	if in.Filter == "" && path != "" {
		out = append(out, c.onPage("browser_network_requests", "every request of that path", messages.ToolInput{"filter": cut(path, 500)}))
	}
	if !in.HAR && c.artifacts != nil {
		out = append(out, c.onPage("browser_network_requests", "keep all requests with their timings", messages.ToolInput{"har": true}))
	}
	return out
}
