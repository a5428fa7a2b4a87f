package registry_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/actors/registry"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// bench is a machine with what came of its steps.
type bench struct {
	*testing.T
	m       *registry.Machine
	effects []string
}

func (b *bench) step(now int64, in any) {
	for _, e := range b.m.Step(time.Unix(now, 0), in) {
		switch e := e.(type) {
		case registry.Answer:
			calls.Answer(e.To, e.Value, e.Err)
		case registry.Admit, registry.Began:
		case registry.ToSupervisor:
			b.effects = append(b.effects, fmt.Sprintf("%T", e.Msg))
		default:
			b.effects = append(b.effects, fmt.Sprintf("%T", e))
		}
	}
}

func (b *bench) reply(name string) mail.Call {
	return calls.Open(func(v any, err error) {
		if err != nil {
			b.effects = append(b.effects, fmt.Sprintf("%s: %s", name, messages.CodeOf(err)))
			return
		}
		b.effects = append(b.effects, fmt.Sprintf("%s: %v", name, v))
	})
}

func (b *bench) expect(want ...string) {
	b.Helper()
	if fmt.Sprint(b.effects) != fmt.Sprint(want) {
		b.Errorf("got  %v\nwant %v", b.effects, want)
	}
	b.effects = nil
}

func at(port int) messages.TaskSpec {
	u, err := messages.ParseCDPURL(fmt.Sprintf("ws://127.0.0.1:%d/", port))
	if err != nil {
		panic(err)
	}
	return messages.TaskSpec{CDPURL: u}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	story := func(name string, limits messages.Limits, f func(b *bench)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(&bench{T: t, m: registry.NewMachine(limits, messages.CDPURL{})})
		})
	}

	story("the loser of a race waits for the winner (A3)", messages.Limits{}, func(b *bench) {
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("first")})
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("second")})
		b.expect("registry.SpawnSupervisor", "mail.UpdateSpec")
		b.step(0, mail.TaskActive{ID: "t", Gen: 1})
		b.expect("first: {true}", "second: {false}")
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("third")})
		b.expect("mail.UpdateSpec", "third: {false}")
	})
	story("another browser waits for the end of the old supervisor (A4)", messages.Limits{}, func(b *bench) {
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("old")})
		b.step(0, mail.TaskActive{ID: "t", Gen: 1})
		b.step(0, mail.StartTask{ID: "t", Spec: at(2), Reply: b.reply("new")})
		b.step(0, mail.StartTask{ID: "t", Spec: at(2), Reply: b.reply("same")})
		b.step(0, mail.StartTask{ID: "t", Spec: at(3), Reply: b.reply("newer")})
		b.expect("registry.SpawnSupervisor", "old: {true}", "mail.StopTask",
			"new: upstream_unavailable", "same: upstream_unavailable")
		b.step(0, registry.SupervisorExited{ID: "t", Gen: 1})
		b.step(0, mail.TaskActive{ID: "t", Gen: 1}) // late word of the old one
		b.expect("registry.SpawnSupervisor")
		b.step(0, mail.TaskActive{ID: "t", Gen: 2})
		b.expect("newer: {true}")
	})
	story("a stop while starting ends the start", messages.Limits{}, func(b *bench) {
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("start")})
		b.step(0, mail.StopTask{ID: "t", Reply: b.reply("stop")})
		b.step(0, mail.StopTask{ID: "t", Reply: b.reply("again")})
		b.expect("registry.SpawnSupervisor", "mail.StopTask")
		b.step(0, registry.SupervisorExited{ID: "t", Gen: 1})
		b.expect("registry.Forget", "start: upstream_unavailable", "stop: <nil>", "again: <nil>")
	})
	story("a start behind a stop begins afresh", messages.Limits{}, func(b *bench) {
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("one")})
		b.step(0, mail.TaskActive{ID: "t", Gen: 1})
		b.step(0, mail.StopTask{ID: "t", Reply: b.reply("stop")})
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("two")})
		b.expect("registry.SpawnSupervisor", "one: {true}", "mail.StopTask")
		b.step(0, registry.SupervisorExited{ID: "t", Gen: 1})
		b.step(0, mail.TaskActive{ID: "t", Gen: 2})
		b.expect("stop: <nil>", "registry.SpawnSupervisor", "two: {true}")
	})
	story("a start behind a loss begins afresh, also before the lost supervisor is gone", messages.Limits{}, func(b *bench) {
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("one")})
		b.step(0, mail.TaskActive{ID: "t", Gen: 1})
		b.step(0, mail.TaskEnding{ID: "t", Gen: 1})
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("two")})
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("three")})
		b.expect("registry.SpawnSupervisor", "one: {true}")
		b.step(0, registry.SupervisorExited{ID: "t", Gen: 1, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "gone")})
		b.step(0, mail.TaskEnding{ID: "t", Gen: 1}) // late word of the old one
		b.step(0, mail.TaskActive{ID: "t", Gen: 2})
		b.expect("registry.SpawnSupervisor", "two: {true}", "three: {false}")
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("four")})
		b.expect("mail.UpdateSpec", "four: {false}")
	})
	story("a lost task stays listed until somebody says that they know", messages.Limits{}, func(b *bench) {
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("start")})
		b.step(0, mail.TaskActive{ID: "t", Gen: 1})
		b.step(0, registry.SupervisorExited{ID: "t", Gen: 1, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "gone")})
		b.expect("registry.SpawnSupervisor", "start: {true}")
		b.step(0, mail.StopTask{ID: "t", Reply: b.reply("stop")})
		b.expect("stop: <nil>", "registry.Acknowledge")
	})
	story("the error of a first attach is the start's (A15)", messages.Limits{}, func(b *bench) {
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("start")})
		b.step(0, registry.SupervisorExited{ID: "t", Gen: 1, Err: messages.Errorf(messages.CodeTargetNotFound, "no page")})
		b.expect("registry.SpawnSupervisor", "registry.Forget", "start: target_not_found")
	})
	story("one task too many is refused", messages.Limits{MaxTasks: 1, QueueLength: -1}, func(b *bench) {
		b.step(0, mail.StartTask{ID: "a", Spec: at(1), Reply: b.reply("a")})
		b.step(0, mail.StartTask{ID: "b", Spec: at(1), Reply: b.reply("b")})
		b.expect("registry.SpawnSupervisor", "registry.Rejected", "b: limit_reached")
	})
	story("the end of a lease, and of a life (X7)", messages.Limits{IdleTimeout: time.Minute, MaxLife: time.Hour}, func(b *bench) {
		idle := func(d time.Duration) registry.Sweep {
			return registry.Sweep{IdleFor: func(messages.TaskID) time.Duration { return d }}
		}
		b.step(0, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("start")})
		b.step(120, idle(2*time.Minute)) // a caller waits for it to start
		b.expect("registry.SpawnSupervisor")
		b.step(120, mail.TaskActive{ID: "t", Gen: 1})
		b.step(180, idle(time.Minute))
		b.expect("start: {true}")
		b.step(181, idle(time.Minute+1))
		b.step(182, idle(time.Hour))
		b.expect("mail.StopTask")
		b.step(183, registry.SupervisorExited{ID: "t", Gen: 1})

		b.step(200, mail.StartTask{ID: "t", Spec: at(1), Reply: b.reply("again")})
		b.step(200, mail.TaskActive{ID: "t", Gen: 2})
		b.step(3800, idle(0))
		b.expect("registry.SpawnSupervisor", "again: {true}")
		b.step(3801, idle(0))
		b.expect("mail.StopTask")
	})
	story("what is kept of ended tasks is bounded", messages.Limits{}, func(b *bench) {
		for n := range registry.MaxEnded + 5 {
			id := messages.TaskID(fmt.Sprint(n))
			b.step(0, mail.StartTask{ID: id, Spec: at(1), Reply: calls.Open(func(any, error) {})})
			b.step(0, mail.TaskActive{ID: id, Gen: uint64(n + 1)})
			b.effects = nil
			b.step(0, registry.SupervisorExited{ID: id, Gen: uint64(n + 1)})
			if n < registry.MaxEnded {
				b.expect()
			} else {
				b.expect("registry.Forget")
			}
		}
	})
}
