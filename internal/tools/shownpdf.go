package tools

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"holdfast/messages"
)

// printed saves the page as it would be printed.
func (c *call) printed(ctx context.Context, b blocker) (outcome, error) {
	out, err := runPDF(ctx, c, pdfInput{Background: true})
	if saved, ok := out.data.(pdfOutput); ok {
		out.data = unblocked{Type: b.Type, URL: b.URL, BlockerID: b.ID, ArtifactID: saved.ArtifactID}
	}
	return out, err
}

// maxShownPDF bounds a PDF that is taken out of the browser's viewer, in bytes.
const maxShownPDF = 32 << 20

// pdfScript reads the document of a PDF, whose page has no script of its own. The browser has it in
// its cache, mostly.
const pdfScript = `fetch(location.href).then(r => r.ok ? r.blob() : Promise.reject(new Error('status ' + r.status))).then(b => b.size > %d ? null : new Promise((done, failed) => {
  const r = new FileReader();
  r.onload = () => done(r.result.slice(r.result.indexOf(',') + 1));
  r.onerror = () => failed(r.error);
  r.readAsDataURL(b);
}))`

// savePDF makes an artifact of the PDF that the browser shows.
func (c *call) savePDF(ctx context.Context, b blocker) (outcome, error) {
	if c.artifacts == nil {
		return outcome{}, messages.Errorf(messages.CodeForbidden, "this node keeps no artifacts")
	}
	var got evaluation
	if err := c.cdp(ctx, "", "Runtime.evaluate", map[string]any{"expression": fmt.Sprintf(pdfScript, maxShownPDF), "returnByValue": true, "awaitPromise": true}, &got, pdfBudget); err != nil {
		return outcome{}, err
	}
	if err := got.failure(); err != nil {
		return outcome{isOfPage: true}, err
	}
	var text string
	if json.Unmarshal(got.Result.Value, &text) != nil || text == "" {
		return outcome{}, messages.Errorf(messages.CodeMessageTooLarge, "the PDF is larger than %d bytes", maxShownPDF)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return outcome{}, messages.Errorf(messages.CodeCDPError, "the PDF cannot be read")
	}
	kept := c.keep(ctx, messages.Artifact{Kind: messages.ArtifactPDF, Name: "page.pdf", MIMEType: "application/pdf"}, raw)
	if kept.State != messages.ArtifactLive {
		return outcome{}, messages.Errorf(messages.CodeLimitReached, "the PDF could not be kept")
	}
	return outcome{
		text:  fmt.Sprintf("Saved the PDF as artifact %s, %d bytes.", kept.ArtifactID, kept.Size),
		data:  unblocked{Type: b.Type, URL: b.URL, BlockerID: b.ID, ArtifactID: kept.ArtifactID},
		files: []messages.Artifact{kept}, category: "artifact-saved",
	}, nil
}
