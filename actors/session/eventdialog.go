package session

import (
	"encoding/json"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"holdfast/messages"
)

// An agent waits for what a dialog says, and so does its page: these two events
// are read by hand where they can be.

func decodeOpening(c Config, now time.Time, params []byte) any {
	var e page.EventJavascriptDialogOpening
	if !plain(params, func(name, text []byte, _ bool) bool {
		switch string(name) {
		case "url":
			e.URL = string(text)
		case "frameId":
			e.FrameID = cdp.FrameID(text)
		case "message":
			e.Message = string(text)
		case "type":
			e.Type = page.DialogType(text)
		case "defaultPrompt":
			e.DefaultPrompt = string(text)
		case "hasBrowserHandler":
			return text == nil
		default:
			return false
		}
		return text != nil
	}) {
		e = page.EventJavascriptDialogOpening{}
		if json.Unmarshal(params, &e) != nil {
			return nil
		}
	}
	return messages.DialogOpened{
		Role: c.Role, Gen: c.Gen, Session: c.Session, Page: c.Page, Frame: messages.FrameID(clip(string(e.FrameID), maxID)),
		Type: clip(string(e.Type), maxID), Message: clip(e.Message, maxDialogText), Default: clip(e.DefaultPrompt, maxDialogText), URL: clip(e.URL, maxURL), Heard: now,
	}
}

func decodeClosed(c Config, params []byte) any {
	type closed struct {
		FrameID   messages.FrameID `json:"frameId"`
		Result    bool             `json:"result"`
		UserInput string           `json:"userInput"`
	}
	var e closed
	if !plain(params, func(name, text []byte, truth bool) bool {
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
	return messages.DialogClosed{
		Role: c.Role, Gen: c.Gen, Session: c.Session, Page: c.Page, Frame: messages.FrameID(clip(string(e.FrameID), maxID)),
		Accepted: e.Result, Text: clip(e.UserInput, messages.MaxPromptText),
	}
}
