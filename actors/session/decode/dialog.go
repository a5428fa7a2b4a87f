package decode

import (
	"encoding/json"
	"time"

	"github.com/chromedp/cdproto/page"

	"holdfast/actors/session/clip"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// An agent waits for what a dialog says, and so does its page: these two events
// are read by hand where they can be.

const (
	DialogOpening = "Page.javascriptDialogOpening"
	dialogClosed  = "Page.javascriptDialogClosed"
)

// opening is what is kept of such an event.
type opening struct{ frame, url, message, kind, prompt string }

func decodeOpening(c *Source, now time.Time, params []byte) any {
	var o opening
	if !readPlain(params, o.takeMember) {
		var ok bool
		if o, ok = thoroughOpening(params); !ok {
			return nil
		}
	}
	return mail.DialogOpened{
		Role: c.Role, Gen: c.Gen, Session: c.Session, Page: c.Page, Frame: messages.FrameID(clip.Text(o.frame, clip.MaxID)),
		Type: messages.DialogType(clip.Text(o.kind, clip.MaxID)), Message: clip.Text(o.message, clip.MaxDialogText), Default: clip.Text(o.prompt, clip.MaxDialogText), URL: clip.Text(o.url, clip.MaxURL), Heard: now,
	}
}

func (o *opening) takeMember(name, text []byte, _ bool) bool {
	switch string(name) {
	case "url":
		o.url = string(text)
	case "frameId":
		o.frame = string(text)
	case "message":
		o.message = string(text)
	case "type":
		o.kind = string(text)
	case "defaultPrompt":
		o.prompt = string(text)
	case "hasBrowserHandler":
		return text == nil
	default:
		return false
	}
	return text != nil
}

// thoroughOpening takes all that JSON allows.
func thoroughOpening(params []byte) (opening, bool) {
	var e page.EventJavascriptDialogOpening
	if json.Unmarshal(params, &e) != nil {
		return opening{}, false
	}
	return opening{string(e.FrameID), e.URL, e.Message, string(e.Type), e.DefaultPrompt}, true
}

func decodeClosed(c *Source, params []byte) any {
	type closed struct {
		FrameID   messages.FrameID `json:"frameId"`
		Result    bool             `json:"result"`
		UserInput string           `json:"userInput"`
	}
	var e closed
	if !readPlain(params, func(name, text []byte, truth bool) bool {
		switch string(name) {
		case "frameId":
			e.FrameID = messages.FrameID(text)
		case "userInput":
			e.UserInput = string(text)
		case "result":
			e.Result = truth
			return text == nil
		default:
			return false
		}
		return text != nil
	}) {
		e = closed{}
		if json.Unmarshal(params, &e) != nil {
			return nil
		}
	}
	return mail.DialogClosed{
		Role: c.Role, Gen: c.Gen, Session: c.Session, Page: c.Page, Frame: messages.FrameID(clip.Text(string(e.FrameID), clip.MaxID)),
		IsAccepted: e.Result, Text: clip.Text(e.UserInput, messages.MaxPromptText),
	}
}
