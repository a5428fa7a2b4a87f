package chaos

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// call is one command that waits for its reply. It may wait for a renderer, and a method
// may keep it and reply later, or never.
type call struct {
	b *Browser
	s *session
	m *method
	request
	told func() // runs when the reply leaves the browser, nil for most
}

// method says how a command is carried out.
type method struct {
	on    scope
	where place
	needs []string    // parameters that must be there
	early func(*call) // at once, even when the command itself has to wait
	run   func(*call)
}

type scope int

const (
	onBrowser scope = 1 << iota
	onPage
	onFrame  // an iframe target's session
	onTarget = onPage | onFrame
	onAny    = onBrowser | onTarget
)

func (s *session) scope() scope {
	switch {
	case s.target == nil:
		return onBrowser
	case s.target.kind == kindPage:
		return onPage
	default:
		return onFrame
	}
}

func (b *Browser) dispatch(c *call) {
	m, found := methods[c.method]
	refuse := b.options.Refuse
	if !found || m.on&c.s.scope() == 0 || refuse != nil && refuse(c.s.conn.number, c.method) {
		c.fail(codeNotFound, fmt.Sprintf("'%s' wasn't found", c.method))
		return
	}
	c.m = &m
	if data := c.missing(m.needs); data != "" {
		c.refuse(wireError{Code: codeInvalidParams, Message: "Invalid parameters", Data: data})
		return
	}
	if m.early != nil {
		m.early(c)
	}
	if c.s.target != nil && m.where != inBrowser {
		if p := c.s.target.proc; p.await(c) {
			b.drain(p)
		}
		return
	}
	m.run(c)
}

// missing words the absence of a parameter like Chrome, but for the position.
func (c *call) missing(needs []string) string {
	if len(needs) == 0 {
		return ""
	}
	if len(c.params) == 0 {
		return "Failed to deserialize params - CBOR: map start expected at position 0"
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.params, &fields) != nil {
		return "Failed to deserialize params - CBOR: map start expected at position 0"
	}
	for _, need := range needs {
		name, kind, _ := strings.Cut(need, ":")
		raw, there := fields[name]
		if !there {
			return fmt.Sprintf("Failed to deserialize params.%s - BINDINGS: mandatory field missing at position 0", name)
		}
		if !isKind(raw, kind) {
			return fmt.Sprintf("Failed to deserialize params.%s - BINDINGS: %s value expected at position 0", name, kind)
		}
	}
	return ""
}

func isKind(raw json.RawMessage, kind string) bool {
	switch kind {
	case "string":
		return isString(raw)
	case "bool":
		return string(raw) == "true" || string(raw) == "false"
	default:
		return true
	}
}

// bind reads the parameters into v, a pointer to a struct. As in Chrome a name
// counts in its exact spelling, and of one that comes twice the last value.
// Fields of a wrong type stay zero: the fake checks only what methods declare in
// needs.
func (c *call) bind(v any) {
	var given map[string]json.RawMessage
	if json.Unmarshal(c.params, &given) != nil {
		return
	}
	fields := reflect.ValueOf(v).Elem()
	for i := range fields.NumField() {
		if raw, ok := given[wireName(fields.Type().Field(i))]; ok {
			_ = json.Unmarshal(raw, fields.Field(i).Addr().Interface())
		}
	}
}

// wireName is how the protocol spells a field: TargetID is targetId.
func wireName(f reflect.StructField) string {
	if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != "" {
		return tag
	}
	if f.Name == strings.ToUpper(f.Name) {
		return strings.ToLower(f.Name) // URL
	}
	name := strings.ToLower(f.Name[:1]) + f.Name[1:]
	if head, ok := strings.CutSuffix(name, "ID"); ok {
		name = head + "Id"
	}
	return name
}

func (c *call) reply(result any) {
	c.answer(wireReply{Result: marshal(result)})
}

func (c *call) ok() { c.reply(empty{}) }

func (c *call) fail(code int, text string) { c.refuse(wireError{Code: code, Message: text}) }

func (c *call) refuse(e wireError) { c.answer(wireReply{Error: &e}) }

// answer sends the reply, as far as the connection's faults let it.
func (c *call) answer(r wireReply) {
	if c.s.isGone {
		return
	}
	r.ID, r.SessionID = &c.id, c.s.id
	message, conn := marshal(r), c.s.conn
	if conn.faults.take(&conn.faults.swallow, c.method) {
		return
	}
	if d := conn.faults.delay[c.method]; d > 0 {
		conn.pushLater(message, d, c.told)
		return
	}
	conn.push(message)
	if c.told != nil {
		c.told()
	}
	if conn.faults.take(&conn.faults.duplicate, c.method) {
		conn.push(message)
	}
}
