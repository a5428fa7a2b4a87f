package command

import (
	"bytes"
	"encoding/json"

	"holdfast/internal/rawcdp"
	"holdfast/messages"
)

// disableBreaks is the parameter by which an expression runs past every debugger
// statement, and so past those in which a bridged dialog waits (C62).
const disableBreaks = "disableBreaks"

// evaluates are the commands that Chrome reads it of, or may.
var evaluates = map[string]bool{"Runtime.evaluate": true, "Runtime.callFunctionOn": true}

// withBreaks are the parameters to send: while the task's dialogs come over the bridge,
// those of an expression have no disableBreaks. With it a dialog would get an answer that
// no caller gave, and leave no record.
func (c Command) withBreaks() (json.RawMessage, error) {
	raw := c.Request.Params
	if !evaluates[c.Request.Method] || c.View.Snapshot.Connection.Bridge != messages.BridgeOn || !mayName(raw, disableBreaks) {
		return raw, nil
	}
	p, err := rawcdp.ReadParams(raw)
	if err != nil {
		return nil, err
	}
	if !p.Has(disableBreaks) {
		return raw, nil
	}
	return p.Without(disableBreaks).JSON(), nil
}

// mayName says whether JSON can have that name in it, escaped or not, without reading it.
func mayName(raw json.RawMessage, name string) bool {
	return bytes.Contains(raw, []byte(name)) || bytes.Contains(raw, []byte(`\u`))
}
