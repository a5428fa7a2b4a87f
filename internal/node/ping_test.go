package node

import (
	"sync"
	"sync/atomic"
	"testing"

	"holdfast/messages"
	"holdfast/messages/mail"
)

func TestPulse(t *testing.T) {
	t.Parallel()
	t.Run("who asks while a ping is under way shares it", func(t *testing.T) {
		t.Parallel()
		var (
			p     pulse
			pings atomic.Int32
			reply mail.ReplyTo
			asked sync.WaitGroup
		)
		beats := make([]*beat, 100)
		for i := range beats {
			asked.Go(func() { beats[i] = p.ask(func(r mail.ReplyTo) { pings.Add(1); reply = r }) })
		}
		asked.Wait()
		reply(nil, nil)
		for _, b := range beats {
			if <-b.done; b.err != nil {
				t.Error(b.err)
			}
		}
		if n := pings.Load(); n != 1 {
			t.Errorf("%d pings", n)
		}
		if p.ask(func(mail.ReplyTo) { pings.Add(1) }); pings.Load() != 2 {
			t.Error("the next one is not asked for anew")
		}
	})
	t.Run("one that is refused at once is no sign of life", func(t *testing.T) {
		t.Parallel()
		var p pulse
		full := messages.Errorf(messages.CodeLimitReached, "full")
		for range 2 {
			b := p.ask(func(r mail.ReplyTo) { r(nil, full) })
			if <-b.done; messages.CodeOf(b.err) != messages.CodeLimitReached {
				t.Error(b.err)
			}
		}
	})
}
