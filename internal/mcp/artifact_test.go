package mcp_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/internal/mcp"
	"holdfast/internal/tools"
	"holdfast/messages"
)

func TestArtifactsAreResources(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.running["shop"] = true
	n.files = map[messages.ArtifactID]string{"a-text": "a long output", "a-picture": "\xff\xd8picture", "a-fake": "\xff", "a-large": strings.Repeat("x", 8<<20+1)}
	n.types = map[messages.ArtifactID]string{"a-text": "text/plain; charset=utf-8", "a-picture": "image/jpeg", "a-fake": "text/plain", "a-large": "text/plain"}
	c, _ := stdio(t, n, mcp.Config{Table: tools.Info().Tools, Tools: mcp.All}, mcp.OwnTask{ID: "shop"}, nil)
	read := func(uri string) (*sdk.ResourceContents, error) {
		res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return nil, err
		}
		return res.Contents[0], nil
	}
	list, err := read("browser://tasks/shop/artifacts")
	if err != nil || !strings.Contains(list.Text, `"a-picture"`) || strings.Contains(list.Text, "a long output") {
		t.Errorf("%v %+v", err, list)
	}
	if one, err := read("browser://tasks/shop/artifacts/a-text"); err != nil || one.Text != "a long output" || one.MIMEType != "text/plain; charset=utf-8" {
		t.Errorf("%v %+v", err, one)
	}
	for _, id := range []messages.ArtifactID{"a-picture", "a-fake"} {
		if one, err := read("browser://tasks/shop/artifacts/" + string(id)); err != nil || string(one.Blob) != n.files[id] || one.Text != "" {
			t.Errorf("%s: %v %+v", id, err, one)
		}
	}
	for uri, want := range map[string]string{
		"browser://tasks/shop/artifacts/a-large":   "longer than",
		"browser://tasks/shop/artifacts/a-missing": "not found",
		"browser://tasks/shop/artifacts/":          "",
		"browser://tasks/other/artifacts":          "no task",
		"browser://tasks/sh%20op/artifacts/a-text": "",
	} {
		if one, err := read(uri); err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%s: %v %+v", uri, err, one)
		}
	}
	tpl, err := c.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(tpl.ResourceTemplates) != 3 {
		t.Errorf("%v, %d templates", err, len(tpl.ResourceTemplates))
	}
}
