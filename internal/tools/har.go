package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"holdfast/internal/version"
	"holdfast/messages"
)

// harEntry is what the timeline has of a request beside what a result shows.
type harEntry struct {
	Protocol string `json:"protocol"`
	Type     string `json:"type"`
	Size     int64  `json:"size"`
	Coded    int64  `json:"coded"`
	// At are the moments of the request, in the order of the timeline: its start, the begin and end
	// of the look-up, the begin of the connection, of its encryption, and its end, the request, and
	// the begin and end of the answer.
	At [9]float64 `json:"at"`
}

// The moments of At.
const (
	atStart = iota
	atLookup
	atLookedUp
	atConnect
	atSecure
	atConnected
	atRequest
	atAnswer
	atEnd
)

// timings are the phases of a request in milliseconds, as HAR 1.2 has them; -1 is unknown. Of
// another origin the timeline may hide all but the whole.
func (h harEntry) timings(took float64) map[string]float64 {
	phase := func(from, to int) float64 {
		if h.At[from] <= 0 || h.At[to] < h.At[from] {
			return -1
		}
		return h.At[to] - h.At[from]
	}
	t := map[string]float64{"blocked": phase(atStart, atLookup), "dns": phase(atLookup, atLookedUp), "connect": phase(atConnect, atConnected), "ssl": phase(atSecure, atConnected)}
	t["send"], t["wait"], t["receive"] = 0, phase(atRequest, atAnswer), phase(atAnswer, atEnd)
	if t["wait"] < 0 || t["receive"] < 0 { // these two must be known
		t["wait"], t["receive"] = took, 0
	}
	return t
}

// harOf is a HAR 1.2 file of requests. The timeline has no method, no headers and no bodies: each
// request is written as a GET without headers, and the file says so.
func harOf(page string, all []networkRequest) ([]byte, error) {
	type list = []any
	entries := make(list, 0, len(all))
	for _, r := range all {
		protocol := r.Protocol
		if protocol == "" {
			protocol = "unknown"
		}
		entries = append(entries, map[string]any{
			"startedDateTime": time.UnixMilli(int64(r.Start)).UTC().Format("2006-01-02T15:04:05.000Z07:00"), "time": r.TookMS, "cache": struct{}{}, "pageref": "page",
			"request": map[string]any{
				"method": "GET", "url": r.URL, "httpVersion": protocol, "headers": list{}, "queryString": list{}, "cookies": list{}, "headersSize": -1, "bodySize": -1,
			},
			"response": map[string]any{
				"status": r.Status, "statusText": "", "httpVersion": protocol, "headers": list{}, "cookies": list{}, "redirectURL": "", "headersSize": -1, "bodySize": r.Coded,
				"content": map[string]any{"size": r.Size, "mimeType": r.Type},
			},
			"timings": r.timings(r.TookMS), "_initiator": r.Kind, "_noAnswer": r.IsLost,
		})
	}
	began := ""
	if len(all) > 0 {
		began = time.UnixMilli(int64(all[0].Start)).UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	return json.Marshal(map[string]any{"log": map[string]any{
		"version": "1.2", "creator": map[string]any{"name": "holdfast", "version": version.Read().Version}, "entries": entries,
		"pages":   list{map[string]any{"id": "page", "title": page, "startedDateTime": began, "pageTimings": struct{}{}}},
		"comment": "Of the performance timeline, which has no methods, headers and bodies. Secrets in addresses are masked.",
	}})
}

// keepHAR keeps the requests as a file.
func (c *call) keepHAR(ctx context.Context, out *outcome, all []networkRequest) error {
	if c.artifacts == nil {
		return messages.Errorf(messages.CodeForbidden, "this node keeps no artifacts")
	}
	title := ""
	if snap, err := c.snapshot(); err == nil {
		if p := c.shownPage(snap); p != nil {
			title = p.Title
		}
	}
	raw, err := harOf(title, all)
	if err != nil {
		return err
	}
	kept := c.keep(ctx, messages.Artifact{Kind: messages.ArtifactHAR, Name: "requests.har", MIMEType: "application/json"}, raw)
	out.files = append(out.files, kept)
	if kept.State != messages.ArtifactLive {
		out.text += "\nThe HAR file could not be kept."
		return nil
	}
	out.text += fmt.Sprintf("\nAll %d are artifact %s, a HAR file without headers and bodies.", len(all), kept.ArtifactID)
	return nil
}
