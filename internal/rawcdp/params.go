package rawcdp

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"holdfast/messages"
)

// Params are the parameters of a command, read as Chrome reads them: by exact
// names. Each name is there once.
type Params struct{ members []member }

type member struct {
	name  string
	value json.RawMessage
}

// ReadParams reads raw, where nothing and null are the empty object. A name that
// comes twice, a name of ids in another spelling, and an id of another type than
// the protocol's are [messages.CodeInvalidArgument].
func ReadParams(raw json.RawMessage) (Params, error) {
	var p Params
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		return p, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return Params{}, notObject()
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return Params{}, notObject()
		}
		m := member{name: name.(string)} // a member's name, or Token fails
		if err := dec.Decode(&m.value); err != nil {
			return Params{}, notObject()
		}
		if err := p.check(m); err != nil {
			return Params{}, err
		}
		p.members = append(p.members, m)
	}
	if _, err := dec.Token(); err != nil {
		return Params{}, notObject()
	}
	if dec.More() {
		return Params{}, notObject()
	}
	return p, nil
}

func notObject() error {
	return messages.Errorf(messages.CodeInvalidArgument, "params must be a JSON object")
}

// ids are the parameters that name something of the browser, in Chrome's
// spelling, and whether they are numbers.
var ids = map[string]bool{
	"targetId": false, "browserContextId": false, "sessionId": false, "openerId": false, "frameId": false, "windowId": true,
}

func (p Params) check(m member) error {
	if _, twice := p.get(m.name); twice {
		return messages.Errorf(messages.CodeInvalidArgument, "params name %s twice", strconv.Quote(short(m.name)))
	}
	for id, isNumber := range ids {
		switch {
		case !strings.EqualFold(m.name, id):
		case m.name != id:
			return messages.Errorf(messages.CodeInvalidArgument, "params: %s is spelled %s", strconv.Quote(short(m.name)), id)
		case isNumber:
			if _, err := integer(m.value); err != nil {
				return messages.Errorf(messages.CodeInvalidArgument, "params: %s must be an integer", id)
			}
		default:
			s, err := text(m.value)
			if err != nil {
				return messages.Errorf(messages.CodeInvalidArgument, "params: %s must be a string", id)
			}
			if err := messages.CheckOpaqueID(id, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func short(name string) string {
	const most = 64
	if len(name) > most {
		return name[:most] + "…"
	}
	return name
}

var errKind = messages.Errorf(messages.CodeInvalidArgument, "another type")

func text(raw json.RawMessage) (string, error) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", errKind
	}
	return *s, nil
}

func integer(raw json.RawMessage) (int64, error) {
	var n *int64
	if json.Unmarshal(raw, &n) != nil || n == nil || *n < math.MinInt32 || *n > math.MaxInt32 {
		return 0, errKind
	}
	return *n, nil
}

func (p Params) get(name string) (json.RawMessage, bool) {
	for _, m := range p.members {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// Has says whether the parameter is there.
func (p Params) Has(name string) bool { _, ok := p.get(name); return ok }

// ID returns a parameter that names something by a string; "" where it is not there.
func (p Params) ID(name string) string {
	raw, _ := p.get(name)
	s, _ := text(raw)
	return s
}

// Integer returns a parameter that names something by a number, and whether it is there.
func (p Params) Integer(name string) (int64, bool) {
	raw, ok := p.get(name)
	n, err := integer(raw)
	return n, ok && err == nil
}

// With returns p with the parameter set to a string.
func (p Params) With(name, value string) Params {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("rawcdp: " + err.Error()) // strings can be written
	}
	out := p.Without(name)
	out.members = append(out.members, member{name, raw})
	return out
}

// Without returns p without the parameter.
func (p Params) Without(name string) Params {
	out := Params{}
	for _, m := range p.members {
		if m.name != name {
			out.members = append(out.members, m)
		}
	}
	return out
}

// JSON writes what was read. It is what has been checked, and so what is sent.
func (p Params) JSON() json.RawMessage {
	out := []byte{'{'}
	for i, m := range p.members {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			panic("rawcdp: " + err.Error()) // strings can be written
		}
		out = append(append(append(out, name...), ':'), m.value...)
		if _, isID := ids[m.name]; isID && m.name != "windowId" {
			value, _ := json.Marshal(p.ID(m.name)) // as Go has read it, also where it is no UTF-8
			out = append(out[:len(out)-len(m.value)], value...)
		}
	}
	return append(out, '}')
}
