package decode

import (
	"bytes"
	"encoding/json"
	"strings"

	"holdfast/actors/session/clip"
	"holdfast/messages"
	"holdfast/messages/mail"
)

const fileChooserOpened = "Page.fileChooserOpened"

// decodeChooser reads the event of a chooser that the browser did not open.
func decodeChooser(c *Source, params []byte) any {
	var e struct {
		Frame messages.FrameID `json:"frameId"`
		Mode  string           `json:"mode"`
		Node  int64            `json:"backendNodeId"`
	}
	if json.Unmarshal(params, &e) != nil {
		return nil
	}
	return mail.BlockerRaised{Gen: c.Gen, Page: c.Page, Target: c.Target, Blocker: messages.Blocker{
		Type: messages.BlockerFileChooser, FrameID: messages.FrameID(clip.Text(string(e.Frame), clip.MaxID)),
		IsMultiple: e.Mode == "selectMultiple", BackendNodeID: e.Node,
	}}
}

// maxAskedBytes bounds what a page says of its question, and maxKey the names within it.
const (
	maxAskedBytes = 2 << 10
	maxKey        = 64
)

// decodeAsked reads what the script of blockers reports over its binding; nil is no such event, or
// one that the script does not make.
func decodeAsked(c *Source, params []byte) any {
	name := c.Secret.Asks()
	if name == "" || len(params) > maxAskedBytes {
		return nil
	}
	var e struct {
		Name    string `json:"name"`
		Payload string `json:"payload"`
		Context int64  `json:"executionContextId"`
	}
	if json.Unmarshal(params, &e) != nil || e.Name != name {
		return nil
	}
	var said struct {
		Kind   messages.BlockerType `json:"kind"`
		Key    string               `json:"key"`
		Names  string               `json:"names"`
		Origin string               `json:"origin"`
		Top    string               `json:"top"`
	}
	if json.Unmarshal([]byte(e.Payload), &said) != nil {
		return nil
	}
	raised := mail.BlockerRaised{Gen: c.Gen, Page: c.Page, Target: c.Target, Blocker: messages.Blocker{
		Type: said.Kind, FrameID: messages.FrameID(c.Target), Origin: clip.Text(said.Origin, clip.MaxURL),
	}}
	switch said.Kind {
	case messages.BlockerPrint:
		return raised
	case messages.BlockerPermission:
		if !arePermissions(said.Names) || len(said.Key) > maxKey {
			return nil
		}
		raised.Blocker.Permission = said.Names
		raised.Asked = mail.BlockerAsked{
			Key: said.Key, Context: e.Context, Top: clip.Text(said.Top, clip.MaxURL), Origin: raised.Blocker.Origin, Names: said.Names,
		}
		return raised
	}
	return nil
}

// maxPermissions bounds how many a page asks for at once: a camera and a microphone.
const maxPermissions = 4

// arePermissions says that a text is names of permissions, with commas between them.
func arePermissions(names string) bool {
	list := strings.Split(names, ",")
	if len(list) > maxPermissions {
		return false
	}
	for _, name := range list {
		if name == "" || len(name) > maxKey || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			return false
		}
	}
	return true
}

// IsErrorPage says that an address is that of the browser's own page about what it does not show.
func IsErrorPage(url string) bool { return strings.HasPrefix(url, "chrome-error:") }

const pdfType = "application/pdf"

// pdfMember says in an event that a document is a PDF: no text within it holds plain quotes.
var pdfMember = []byte(`"mimeType":"` + pdfType + `"`)

// IsPDF says of a Page.getFrameTree that the page's own document is a PDF.
func IsPDF(result []byte) bool {
	return bytes.Contains(result, pdfMember) && rootDocument(result).MIME == pdfType
}

// Unreachable reads of a Page.getFrameTree the address that an error page stands for.
func Unreachable(result []byte) string {
	return clip.Text(rootDocument(result).Unreachable, clip.MaxURL)
}

type document struct {
	Unreachable string `json:"unreachableUrl"`
	MIME        string `json:"mimeType"`
}

func rootDocument(result []byte) document {
	var r struct {
		FrameTree struct {
			Frame document `json:"frame"`
		} `json:"frameTree"`
	}
	if json.Unmarshal(result, &r) != nil {
		return document{}
	}
	return r.FrameTree.Frame
}

// ErrorPage reads what the browser's page about an address that it does not show says of it: the
// status of the answer, what the page is about, and the error.
func ErrorPage(result []byte) (status int, about, code string) {
	var r struct {
		Result struct {
			Value struct {
				IsOwn  bool   `json:"isOwn"`
				Status int    `json:"status"`
				Type   string `json:"type"`
				Code   string `json:"code"`
			} `json:"value"`
		} `json:"result"`
	}
	if v := &r.Result.Value; json.Unmarshal(result, &r) == nil && v.IsOwn {
		return v.Status, clip.Text(v.Type, clip.MaxID), clip.Text(v.Code, clip.MaxID)
	}
	return 0, "", ""
}
