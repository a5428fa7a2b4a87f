package desk

import (
	"encoding/json"
	"errors"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"holdfast/messages"
	"holdfast/messages/wire"
)

// jsonReply is a reply or an event for a program that asks in JSON.
type jsonReply struct {
	RequestID string          `json:"request_id"`
	Error     *messages.Error `json:"error,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Event     json.RawMessage `json:"event,omitempty"`
}

func inJSON(r jsonReply) proto.Message {
	b, err := json.Marshal(r)
	if err != nil {
		b, _ = json.Marshal(jsonReply{RequestID: r.RequestID, Error: messages.Errorf(messages.CodeInternal, "the answer cannot be written")})
	}
	return wrapperspb.Bytes(b)
}

// reply answers a request with a result, or with an error.
func (q request) reply(result []byte, err error) proto.Message {
	var e *messages.Error
	if err != nil && !errors.As(err, &e) {
		e = messages.Errorf(messages.CodeUpstreamUnavailable, "the node did not answer: %v", err)
	}
	if q.isJSON {
		return inJSON(jsonReply{RequestID: q.RequestID, Error: e, Result: result})
	}
	out := &wire.Reply{RequestId: q.RequestID, Json: result}
	if e != nil {
		out.Error = &wire.Error{Code: string(e.Code), Message: e.Message}
		var all struct {
			Details json.RawMessage `json:"details"`
		}
		if b, err := json.Marshal(e); err == nil && json.Unmarshal(b, &all) == nil {
			out.Error.Json = all.Details
		}
	}
	return out
}

// event tells of a change of the watched task.
func (q request) event(data []byte) (m proto.Message, version uint64) {
	var head struct {
		Type    string `json:"type"`
		Version uint64 `json:"version"`
	}
	_ = json.Unmarshal(data, &head) // ours; without a head it is still an event
	if q.isJSON {
		return inJSON(jsonReply{RequestID: q.RequestID, Event: data}), head.Version
	}
	return &wire.Event{RequestId: q.RequestID, Version: head.Version, Type: head.Type, Json: data}, head.Version
}
