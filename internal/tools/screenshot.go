package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"image/jpeg"
	"image/png"
	"time"

	"holdfast/messages"
)

// pictureTools make pictures of pages.
var pictureTools = []Tool{
	define[screenshotInput, screenshotOutput](Tool{
		Name: "browser_take_screenshot", Title: "Screenshot", Group: "reports", IsCore: true,
		Description: "A picture of the page, or of one element, within 1024 × 1024 pixels. To act, use browser_snapshot.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runScreenshot),
}

// The bounds of a picture for a model (T30).
const (
	maxSide       = 1024      // pixels
	maxPicture    = 150 << 10 // bytes, of a JPEG
	maxFullPage   = 16_384    // CSS pixels of a page's height
	maxPNG        = 4 << 20   // bytes
	firstQuality  = 70
	leastQuality  = 20
	pictureBudget = 15 * time.Second
)

type screenshotInput struct {
	on
	pointer
	FullPage bool   `json:"full_page,omitempty" jsonschema:"all of the page, not the viewport"`
	Type     string `json:"type,omitempty" enum:"jpeg|png" jsonschema:"default jpeg"`
}

type screenshotOutput struct {
	Width  int `json:"width"`
	Height int `json:"height"`
	Bytes  int `json:"bytes"`
}

type area struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Scale  float64 `json:"scale"`
}

func runScreenshot(ctx context.Context, c *call, in screenshotInput) (outcome, error) {
	if in.FullPage && !in.isZero() {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "full_page and an element exclude each other")
	}
	ctx, cancel := context.WithTimeout(ctx, pictureBudget)
	defer cancel()
	clip, err := c.area(ctx, in)
	if err != nil {
		return outcome{}, err
	}
	raw, err := c.picture(ctx, in, clip)
	if err != nil {
		return outcome{}, err
	}
	kind := cmp.Or(in.Type, "jpeg")
	about := messages.Artifact{Kind: messages.ArtifactScreenshot, Name: "screenshot." + kind, MIMEType: "image/" + kind}
	if about.Width, about.Height, err = sizeOf(raw, kind); err != nil {
		return outcome{}, messages.Errorf(messages.CodeCDPError, "the browser's picture cannot be read")
	}
	made := c.keep(ctx, about, raw)
	made.Base64 = base64.StdEncoding.EncodeToString(raw)
	return outcome{
		text: fmt.Sprintf("Screenshot of %d × %d pixels.", made.Width, made.Height), isOfPage: true,
		data: screenshotOutput{made.Width, made.Height, len(raw)}, files: []messages.Artifact{made},
	}, nil
}

func sizeOf(raw []byte, kind string) (width, height int, err error) {
	decode := jpeg.DecodeConfig
	if kind == "png" {
		decode = png.DecodeConfig
	}
	config, err := decode(bytes.NewReader(raw))
	return config.Width, config.Height, err
}

// area is what the picture shows, and the scale that keeps it within its bounds.
func (c *call) area(ctx context.Context, in screenshotInput) (area, error) {
	var metrics struct {
		Viewport struct {
			X      float64 `json:"pageX"`
			Y      float64 `json:"pageY"`
			Width  float64 `json:"clientWidth"`
			Height float64 `json:"clientHeight"`
		} `json:"cssVisualViewport"`
		Content area `json:"cssContentSize"`
	}
	measure := func() error {
		return c.cdp(ctx, "", "Page.getLayoutMetrics", struct{}{}, &metrics, quickly)
	}
	if err := measure(); err != nil {
		return area{}, err
	}
	view := metrics.Viewport
	clip := area{X: view.X, Y: view.Y, Width: view.Width, Height: view.Height}
	switch {
	case in.FullPage:
		clip = area{Width: metrics.Content.Width, Height: min(metrics.Content.Height, maxFullPage)}
	case !in.isZero():
		e, err := c.element(ctx, in.pointer)
		if err != nil {
			return area{}, err
		}
		s, err := c.actionable(ctx, e, "look", defaultAction)
		if err != nil {
			return area{}, err
		}
		if err := measure(); err != nil { // it may have scrolled
			return area{}, err
		}
		// The middle of what can be seen of the element is known in the page's viewport.
		width, height := min(s.Width, metrics.Viewport.Width), min(s.Height, metrics.Viewport.Height)
		clip = area{X: metrics.Viewport.X + max(s.X-width/2, 0), Y: metrics.Viewport.Y + max(s.Y-height/2, 0), Width: width, Height: height}
	}
	if clip.Width < 1 || clip.Height < 1 {
		return area{}, messages.Errorf(messages.CodeNotActionable, "there is nothing to see: it has no size").With("why", "hidden")
	}
	ratio := 1.0
	var got evaluation
	if err := c.cdp(ctx, "", "Runtime.evaluate", map[string]any{"expression": "devicePixelRatio", "returnByValue": true}, &got, quickly); err == nil {
		if _, err := fmt.Sscan(string(got.Result.Value), &ratio); err != nil || ratio < 0.1 || ratio > 10 {
			ratio = 1
		}
	}
	clip.Scale = min(1, maxSide/(max(clip.Width, clip.Height)*ratio))
	return clip, nil
}

// picture takes the picture. One that is too large is taken again, coarser, then smaller.
func (c *call) picture(ctx context.Context, in screenshotInput, clip area) ([]byte, error) {
	most := maxPicture
	if in.Type == "png" {
		most = maxPNG
	}
	for quality := firstQuality; ; quality -= 25 {
		params := map[string]any{"format": cmp.Or(in.Type, "jpeg"), "clip": clip, "captureBeyondViewport": in.FullPage}
		if in.Type != "png" {
			params["quality"] = max(quality, leastQuality)
		}
		data, err := c.shoot(ctx, params)
		if err != nil {
			return nil, err
		}
		if len(data) <= most || clip.Scale < 0.05 {
			return data, nil
		}
		if quality < leastQuality || in.Type == "png" {
			clip.Scale /= 2
		}
	}
}

// undrawn is how long a picture may take before another one is asked for. A page that is not in
// front of its window, such as the opener of a popup, is drawn only for the next request (C69).
const undrawn = 300 * time.Millisecond

// shoot takes one picture.
func (c *call) shoot(ctx context.Context, params map[string]any) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type picture struct {
		Data []byte `json:"data"`
		err  error
	}
	taken := make(chan picture, 2)
	take := func() {
		var p picture
		p.err = c.cdp(ctx, "", "Page.captureScreenshot", params, &p, quickly)
		taken <- p
	}
	go take()
	again := time.NewTimer(undrawn)
	defer again.Stop()
	for {
		select {
		case p := <-taken:
			return p.Data, p.err
		case <-again.C:
			go take()
		}
	}
}
