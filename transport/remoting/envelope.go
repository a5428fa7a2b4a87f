package remoting

import (
	"fmt"

	"github.com/anthdm/hollywood/actor"
	"github.com/anthdm/hollywood/remote"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Bounds of an inbound envelope.
const (
	maxMessages = 1 << 13
	maxNames    = 1 << 13
	maxNameLen  = 512
)

const (
	// pingName is the type of an envelope without messages, which stock passes over.
	pingName       = "holdfast.v1/ping"
	noneID         = "none"
	responsePrefix = "response/"
)

// messageTypes finds the types by their names.
func messageTypes(names []protoreflect.FullName) (map[string]protoreflect.MessageType, error) {
	out := map[string]protoreflect.MessageType{}
	for _, name := range names {
		t, err := protoregistry.GlobalTypes.FindMessageByName(name)
		if err != nil {
			return nil, fmt.Errorf("remoting: type %s: %w", name, err)
		}
		out[string(name)] = t
	}
	return out, nil
}

// ping is an envelope that asks for a sign of life.
func ping() *remote.Envelope { return &remote.Envelope{TypeNames: []string{pingName}} }

func isPing(e *remote.Envelope) bool {
	return len(e.GetMessages()) == 0 && len(e.GetTypeNames()) == 1 && e.GetTypeNames()[0] == pingName
}

// index numbers what an envelope has once.
type index[K comparable, V any] struct {
	known map[K]int32
	list  []V
}

func (x *index[K, V]) of(key K, value V) int32 {
	if i, ok := x.known[key]; ok {
		return i
	}
	if x.known == nil {
		x.known = map[K]int32{}
	}
	i := int32(len(x.list))
	x.known[key], x.list = i, append(x.list, value)
	return i
}

type pidKey struct{ address, id string }

func keyOf(p *actor.PID) pidKey { return pidKey{p.GetAddress(), p.GetID()} }

// envelope is a batch as it is written.
func envelope(batch []item) *remote.Envelope {
	var (
		types    index[string, string]
		to, from index[pidKey, *actor.PID]
		messages = make([]*remote.Message, len(batch))
	)
	for n, i := range batch {
		messages[n] = &remote.Message{
			Data: i.data, TypeNameIndex: types.of(i.name, i.name),
			TargetIndex: to.of(keyOf(i.to), i.to), SenderIndex: from.of(keyOf(i.from), i.from),
		}
	}
	return &remote.Envelope{TypeNames: types.list, Targets: to.list, Senders: from.list, Messages: messages}
}

// delivery is a message that may come in.
type delivery struct {
	to, from *actor.PID // from is nil for none
	msg      proto.Message
}

// isBounded checks the counts and the lengths of an envelope.
func isBounded(e *remote.Envelope) bool {
	if len(e.GetMessages()) > maxMessages || len(e.GetTypeNames()) > maxNames || len(e.GetTargets()) > maxNames || len(e.GetSenders()) > maxNames {
		return false
	}
	for _, name := range e.GetTypeNames() {
		if len(name) > maxNameLen {
			return false
		}
	}
	for _, pids := range [][]*actor.PID{e.GetTargets(), e.GetSenders()} {
		for _, p := range pids {
			if len(p.GetAddress()) > maxNameLen || len(p.GetID()) > maxNameLen {
				return false
			}
		}
	}
	return true
}

func at[T any](list []T, i int32) (value T, ok bool) {
	if i < 0 || int(i) >= len(list) {
		return value, false
	}
	return list[i], true
}

// open checks one message of an envelope, whose counts have been checked.
func (r *Remoter) open(e *remote.Envelope, m *remote.Message, isDialled func(address string) bool) (d delivery, why Reason) {
	name, hasType := at(e.GetTypeNames(), m.GetTypeNameIndex())
	target, hasTarget := at(e.GetTargets(), m.GetTargetIndex())
	sender, hasSender := at(e.GetSenders(), m.GetSenderIndex())
	if m == nil || !hasType || !hasTarget || target == nil || !hasSender && len(e.GetSenders()) > 0 {
		return d, BadEnvelope
	}
	t := r.types[name]
	if t == nil {
		return d, BadType
	}
	if d.to = r.resolve(target.GetID()); d.to == nil {
		return d, BadTarget
	}
	d.msg = t.New().Interface()
	if (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(m.GetData(), d.msg) != nil {
		return d, BadData
	}
	if sender.GetID() == "" || sender.GetID() == noneID {
		return d, ""
	}
	if address := sender.GetAddress(); address != r.options.Address && isDialled(address) {
		d.from = sender
		return d, ""
	}
	return d, BadSender
}

// resolve returns the actor that an id from outside names.
func (r *Remoter) resolve(id string) *actor.PID {
	if len(id) > len(responsePrefix) && id[:len(responsePrefix)] == responsePrefix {
		if r.isExpected(id) {
			return actor.NewPID(r.options.Address, id)
		}
		return nil
	}
	return r.options.Resolve(id)
}
