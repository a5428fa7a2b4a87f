package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"holdfast/messages"
)

// ownTask is the task that calls mean which name none. It is started by the first tool that
// needs it. It is safe for concurrent use.
type ownTask struct {
	id   messages.TaskID
	spec messages.TaskSpec
	// starting has room for the one call that starts the task.
	starting chan struct{}
	// hasStarted says that this server started it; starting guards it.
	hasStarted bool
}

func newOwnTask(id messages.TaskID, spec messages.TaskSpec) *ownTask {
	if spec.Blockers == nil && spec.CDPURL.IsZero() {
		spec.Blockers = messages.AskAboutBlockers()
	}
	return &ownTask{id: id, spec: spec, starting: make(chan struct{}, 1)}
}

// start starts the task. Of several calls that find it missing one starts it, and the others
// wait for that.
func (o *ownTask) start(ctx context.Context, n Node) error {
	select {
	case o.starting <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-o.starting }()
	_, isNew, err := n.GetOrStart(ctx, o.id, o.spec)
	o.hasStarted = o.hasStarted || isNew
	return err
}

// stop ends the task where this server started it.
func (o *ownTask) stop(ctx context.Context, n Node) error {
	select {
	case o.starting <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-o.starting }()
	if !o.hasStarted {
		return nil
	}
	return n.StopTask(ctx, o.id)
}

// maxClientName bounds the part of a task's id that is its client's name, in bytes.
const maxClientName = 32

// ownID is the id of a client's own task: mcp, the client's name where it has one, and what tells
// it from others of that name.
func ownID(client, unique string) messages.TaskID {
	words := []string{"mcp"}
	plain := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, client), "-")
	if plain != "" {
		words = append(words, strings.Trim(plain[:min(len(plain), maxClientName)], "-"))
	}
	if unique != "" {
		words = append(words, unique)
	}
	return messages.TaskID(strings.Join(words, "-"))
}

// aim reads which task a call is for: the one that its input names, else the client's own.
func (p *peer) aim(input json.RawMessage) (id messages.TaskID, isOwn bool, err error) {
	var named struct {
		Task *string `json:"task"`
	}
	if len(input) > 0 {
		if json.Unmarshal(input, &named) != nil {
			return "", false, messages.Errorf(messages.CodeInvalidArgument, "the arguments must be an object, and task a string")
		}
	}
	if named.Task == nil {
		return p.own.id, true, nil
	}
	id, err = messages.ParseTaskID(*named.Task)
	return id, id == p.own.id, err
}
