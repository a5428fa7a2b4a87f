package decode

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/chromedp/cdproto/runtime"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/clip"
	"holdfast/internal/redact"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// MaxConsoleText bounds what is kept of one console message, in bytes.
const MaxConsoleText = 2000

// Console calls begin with their type; everything but errors is left
// undecoded, because a page can log hundreds of thousands of lines a second.
var (
	consoleError  = []byte(`{"type":"error"`)
	consoleAssert = []byte(`{"type":"assert"`)
)

// ConsoleCalled is the event of a call of the console.
const ConsoleCalled = "Runtime.consoleAPICalled"

func isConsoleError(params []byte) bool {
	return bytes.HasPrefix(params, consoleError) || bytes.HasPrefix(params, consoleAssert)
}

// IsUnwanted says of an event of [Events], by how its params begin, that decode would
// make nothing of it: what a page logs, and what scripts it makes, ends in the link's reader.
func IsUnwanted(method string, head []byte) bool {
	switch method {
	case ConsoleCalled:
		return !isConsoleError(head)
	case bridge.ScriptParsed:
		return bridge.IsPageScript(head)
	}
	return false
}

func decodeConsole(c *Source, same *Repeated, params []byte) any {
	if !isConsoleError(params) {
		return nil
	}
	if r, ok := ScanConsole(c, same, params); ok {
		return r
	}
	var e runtime.EventConsoleAPICalled
	if json.Unmarshal(params, &e) != nil {
		return nil
	}
	parts := make([]string, 0, len(e.Args))
	for _, arg := range e.Args {
		parts = append(parts, describe(arg))
	}
	said := strings.Join(parts, " ")
	entry := messages.ConsoleError{
		TS: messages.Seconds(e.Timestamp.Float64() / 1000), Level: "error", Text: consoleText(said),
	}
	entry.URL = redact.PageURL(scriptURL(e.StackTrace))
	return mail.ConsoleReported{Gen: c.Gen, Page: c.Page, Target: c.Target, Entry: entry, IsCut: len(said) > MaxConsoleText}
}

// scriptURL is the URL of the script that a stack trace begins in.
func scriptURL(s *runtime.StackTrace) string {
	if s == nil || len(s.CallFrames) == 0 || s.CallFrames[0] == nil { // a list of null is valid JSON
		return ""
	}
	return clip.Text(s.CallFrames[0].URL, clip.MaxURL)
}

func decodeException(c *Source, params []byte) any {
	var e runtime.EventExceptionThrown
	if json.Unmarshal(params, &e) != nil || e.ExceptionDetails == nil {
		return nil
	}
	d := e.ExceptionDetails
	text := d.Text
	if d.Exception != nil {
		if s := describe(d.Exception); s != "" {
			text += ": " + s
		}
	}
	entry := messages.ConsoleError{
		TS: messages.Seconds(e.Timestamp.Float64() / 1000), Level: "exception",
		Text: consoleText(text), URL: clip.Text(d.URL, clip.MaxURL),
	}
	if entry.URL == "" {
		entry.URL = scriptURL(d.StackTrace)
	}
	entry.URL = redact.PageURL(entry.URL)
	return mail.ConsoleReported{Gen: c.Gen, Page: c.Page, Target: c.Target, Entry: entry, IsCut: len(text) > MaxConsoleText}
}

// consoleText cuts before it redacts, so that a megabyte of page text costs
// no regular expression; a secret cut in two at the end is cut out by the
// second clip. A value that is no string is told as its JSON stands, and only
// there are bytes left that no JSON decoder has made UTF-8 of.
func consoleText(s string) string {
	s = strings.ToValidUTF8(clip.Text(s, MaxConsoleText+256), "\uFFFD")
	return clip.Text(redact.Text(s), MaxConsoleText)
}

// describe prints a console argument as the console would.
func describe(o *runtime.RemoteObject) string {
	if o == nil {
		return ""
	}
	if o.Type == runtime.RemoteObjectTypeString {
		var s string
		if json.Unmarshal(o.Value, &s) == nil {
			return s
		}
	}
	if o.Description != "" {
		return o.Description
	}
	if o.UnserializableValue != "" {
		return string(o.UnserializableValue)
	}
	if len(o.Value) > 0 {
		return string(o.Value)
	}
	return string(o.Type)
}
