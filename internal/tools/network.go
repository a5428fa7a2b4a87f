package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"holdfast/internal/redact"
	"holdfast/messages"
)

// networkTools show what pages have loaded.
var networkTools = []Tool{
	define[networkInput, networkOutput](Tool{
		Name: "browser_network_requests", Title: "Network requests", Group: "reports",
		Description: "The requests of the page's document and its frames so far, with status and duration, from the browser's performance timeline.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runNetwork),
}

type networkInput struct {
	on
	Filter string `json:"filter,omitempty" maxlen:"1000" jsonschema:"part of the address"`
	Failed bool   `json:"failed,omitempty" jsonschema:"only status 400 and above"`
	Max    int    `json:"max,omitempty" min:"1" max:"250" jsonschema:"newest so many, default 50"`
}

type networkRequest struct {
	URL    string  `json:"url"`
	Kind   string  `json:"kind"`
	Status int     `json:"status,omitempty"`
	TookMS float64 `json:"took_ms"`
	Bytes  int64   `json:"bytes"`
	Start  float64 `json:"start_ms"`
}

type networkOutput struct {
	Requests []networkRequest `json:"requests"`
	// All counts the requests that fit, shown or not.
	All int `json:"all"`
}

// timelineScript lists a frame's requests with those of frames of its own origin. The timeline
// of a document holds 250 resources unless the page asks for more.
const timelineScript = `(() => {
  const out = [];
  const add = (w, depth) => {
    let all;
    try { all = [...w.performance.getEntriesByType('navigation'), ...w.performance.getEntriesByType('resource')]; } catch { return; }
    const origin = w.performance.timeOrigin;
    for (const e of all.slice(-500)) if (out.length < 2000)
      out.push({url: e.name.slice(0, 2000), kind: e.initiatorType, status: e.responseStatus || 0, took_ms: Math.round(e.duration * 10) / 10, bytes: e.transferSize || 0, start_ms: Math.round(origin + e.startTime)});
    if (depth < 8) for (let i = 0; i < Math.min(w.length, 200); i++) add(w[i], depth + 1);
  };
  add(window, 0);
  return out;
})()`

const defaultRequests = 50

func runNetwork(ctx context.Context, c *call, in networkInput) (outcome, error) {
	target, err := c.page()
	if err != nil {
		return outcome{}, err
	}
	snap, err := c.node.Snapshot(c.task, messages.SnapshotOptions{TargetID: target, Full: true})
	if err != nil {
		return outcome{}, err
	}
	frames := []messages.FrameID{""}
	if snap.FrameTree != nil {
		for _, f := range snap.FrameTree.Children {
			if f.IsOOPIF && len(frames) <= captureFrames {
				frames = append(frames, f.FrameID)
			}
		}
	}
	out := networkOutput{Requests: []networkRequest{}}
	for _, f := range frames {
		var got evaluation
		err := c.cdp(ctx, f, "Runtime.evaluate", map[string]any{"expression": timelineScript, "returnByValue": true}, &got, quickly)
		if err != nil && f == "" {
			return outcome{}, err
		}
		var list []networkRequest
		if err != nil || json.Unmarshal(got.Result.Value, &list) != nil {
			continue // a frame that came or left meanwhile, or one that lies
		}
		for _, r := range list {
			if in.Filter != "" && !strings.Contains(r.URL, in.Filter) || in.Failed && r.Status < 400 {
				continue
			}
			r.URL, r.Kind = cut(redact.PageURL(r.URL), 500), cut(r.Kind, 40)
			out.Requests = append(out.Requests, r)
		}
	}
	slices.SortStableFunc(out.Requests, func(a, b networkRequest) int { return int(max(-1, min(1, a.Start-b.Start))) })
	most := in.Max
	if most == 0 {
		most = defaultRequests
	}
	out.All = len(out.Requests)
	out.Requests = out.Requests[max(0, out.All-most):]
	var text strings.Builder
	fmt.Fprintf(&text, "%d requests", out.All)
	if len(out.Requests) < out.All {
		fmt.Fprintf(&text, ", the newest %d", len(out.Requests))
	}
	text.WriteString("\n")
	for _, r := range out.Requests {
		status := "-"
		if r.Status != 0 {
			status = fmt.Sprint(r.Status)
		}
		fmt.Fprintf(&text, "- %s %s %s %.0f ms\n", status, r.Kind, cut(r.URL, 200), r.TookMS)
	}
	said := strings.TrimSpace(text.String())
	return outcome{text: cutMarked(said, maxText), data: out, isOfPage: true, spill: beyond(said, maxText)}, nil
}
