package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/net/html"

	"holdfast/internal/redact"
	"holdfast/messages"
)

// extractTools read pages as texts.
var extractTools = []Tool{
	define[extractInput, *extracted](Tool{
		Name: "browser_extract", Title: "Read as text", Group: "pages",
		Description: "What the page has to read, as Markdown: its article without menus and the like, else its main part. data is null where there is nothing to read.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runExtract),
}

type extractInput struct {
	on
	Format   string `json:"format,omitempty" enum:"markdown|text" jsonschema:"default markdown"`
	MaxChars int    `json:"max_chars,omitempty" min:"500" max:"1000000" jsonschema:"default 15000"`
}

type extracted struct {
	Title    string `json:"title,omitempty"`
	Byline   string `json:"byline,omitempty"`
	SiteName string `json:"site_name,omitempty"`
	Language string `json:"language,omitempty"`
	// From is where the content was found: readability, or the element article, main or body.
	From        string `json:"from"`
	Content     string `json:"content"`
	IsTruncated bool   `json:"truncated,omitempty"`
}

// maxRead bounds the document that is read, in elements; the script bounds its length.
const maxRead = 30_000

// readableScript is the document without what is not shown, and without what is not to be read. A
// document that is longer than can be looked through is its main part's text alone.
const readableScript = `(() => {
  const shown = [...document.querySelectorAll('*')], body = document.body;
  const main = document.querySelector('article') || document.querySelector('main') || body;
  if (!body) return {html: '', text: '', from: 'body'};
  const from = main.localName, text = () => main.innerText.slice(0, 1000000);
  if (shown.length > 30000) return {html: '', text: text(), from};
  const copy = document.documentElement.cloneNode(true), all = [copy, ...copy.querySelectorAll('*')];
  const drop = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'IFRAME', 'INPUT', 'TEXTAREA', 'SELECT', 'OBJECT', 'EMBED', 'CANVAS', 'SVG']);
  shown.forEach((e, i) => { if (drop.has(e.nodeName.toUpperCase()) || body.contains(e) && !e.checkVisibility({visibilityProperty: true}) && !e.querySelector('*')) all[i].remove(); });
  shown.forEach((e, i) => { if (body.contains(e) && getComputedStyle(e).display === 'none') all[i].remove(); });
  const html = copy.outerHTML;
  return html.length > 1048576 ? {html: '', text: text(), from} : {html, text: '', from};
})()`

// readable is what readableScript finds.
type readable struct {
	HTML string `json:"html"`
	Text string `json:"text"`
	From string `json:"from"`
}

func runExtract(ctx context.Context, c *call, in extractInput) (outcome, error) {
	target, err := c.page()
	if err != nil {
		return outcome{}, err
	}
	world, err := c.world(ctx, mainFrame(c))
	if err != nil {
		return outcome{}, err
	}
	var got evaluation
	if err := c.cdp(ctx, "", "Runtime.evaluate", map[string]any{"expression": readableScript, "contextId": world, "returnByValue": true}, &got, quickly); err != nil {
		return outcome{}, err
	}
	if err := got.failure(); err != nil {
		return outcome{}, err
	}
	var page readable
	if json.Unmarshal(got.Result.Value, &page) != nil {
		return outcome{}, messages.Errorf(messages.CodeCDPError, "the page's answer cannot be read")
	}
	address := ""
	if snap, err := c.snapshot(); err == nil {
		for _, p := range snap.Pages {
			if p.TargetID == target {
				address = p.URL
			}
		}
	}
	found := page.extract(address, in.Format != "text")
	if found == nil {
		return outcome{text: "The page has nothing to read.", data: found, category: "inspection"}, nil
	}
	most := in.MaxChars
	if most == 0 {
		most = maxText
	}
	out := outcome{isOfPage: true, category: "inspection", spill: beyond(found.Content, most)}
	found.IsTruncated = out.spill != nil
	found.Content = cutMarked(found.Content, most)
	var head strings.Builder
	for _, line := range []string{found.Title, found.Byline} {
		if line != "" {
			head.WriteString(line + "\n")
		}
	}
	out.text, out.data = head.String()+"\n"+found.Content, found
	return out, nil
}

// extract finds what there is to read: what readability takes for the article, else the element that
// holds the content. It is nil where neither has a text.
func (p readable) extract(address string, isMarkdown bool) *extracted {
	at, err := url.Parse(address)
	if err != nil {
		at = &url.URL{}
	}
	out := &extracted{From: p.From, Content: strings.TrimSpace(p.Text)}
	if document, err := html.Parse(strings.NewReader(p.HTML)); err == nil && p.HTML != "" {
		maskLinks(document, at)
		out.read(document, at, isMarkdown)
	}
	if out.Content == "" {
		return nil
	}
	return out
}

// maskLinks masks secrets in the addresses of a document (W26).
func maskLinks(document *html.Node, at *url.URL) {
	for n := range document.Descendants() {
		for i, a := range n.Attr {
			if a.Key != "href" && a.Key != "src" {
				continue
			}
			to, err := at.Parse(a.Val)
			if err != nil {
				n.Attr[i].Val = ""
				continue
			}
			n.Attr[i].Val = cut(redact.PageURL(to.String()), maxShownURL)
		}
	}
}

// read takes the content of a document.
func (e *extracted) read(document *html.Node, at *url.URL, isMarkdown bool) {
	parser := readability.NewParser()
	parser.MaxElemsToParse = maxRead
	article, err := parser.ParseDocument(document, at)
	if err == nil {
		e.Title, e.Byline = cut(redact.Text(article.Title()), maxShownTitle), cut(redact.Text(article.Byline()), maxShownTitle)
		e.SiteName, e.Language = cut(article.SiteName(), maxShownTitle), cut(article.Language(), 40)
	}
	if err == nil && article.Node != nil {
		if content := wordsOf(article.Node, at, isMarkdown); content != "" {
			e.From, e.Content = "readability", content
			return
		}
	}
	for _, name := range []string{"article", "main", "body"} {
		if part := first(document, name); part != nil {
			if content := wordsOf(part, at, isMarkdown); content != "" {
				e.From, e.Content = name, content
				return
			}
		}
	}
}

// first is the first element of a name in a document.
func first(document *html.Node, name string) *html.Node {
	for n := range document.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			return n
		}
	}
	return nil
}

// wordsOf are the words of a node, as Markdown or as they are.
func wordsOf(n *html.Node, at *url.URL, isMarkdown bool) string {
	if isMarkdown {
		raw, err := htmltomarkdown.ConvertNode(n, converter.WithDomain(fmt.Sprintf("%s://%s", at.Scheme, at.Host)))
		if err == nil {
			return string(bytes.TrimSpace(raw))
		}
	}
	var b bytes.Buffer
	if err := (readability.Article{Node: n}).RenderText(&b); err != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}
