package lease_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/store"
)

// BenchmarkIdle is what a machine costs that has nothing to do: a look at the whole map, as
// it comes twenty times a second and with every record that changes.
func BenchmarkIdle(b *testing.B) {
	for _, tasks := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("%d tasks on 5 nodes", tasks), func(b *testing.B) {
			m := lease.New(lease.Config{Name: "n0", Instance: "n0.1", Times: lease.DefaultTimes()})
			now := lease.Reading{Boot: time.Second}
			m.Step(now, lease.Listed{})
			m.Step(now, lease.Answered{Attempt: 1, Result: store.Result{IsDone: true, Revision: 4}})
			now.Boot, now.Wall = now.Boot+time.Second/20, now.Wall+time.Second/20
			m.Step(now, lease.Woke{})
			m.Step(now, lease.Answered{Attempt: 2, Result: store.Result{IsDone: true, Revision: 5}})
			see := func(key, value string) {
				m.Step(now, lease.Changed{Event: store.Event{Entry: store.Entry{Key: key, Value: []byte(value), Created: 9, Changed: 9}}})
			}
			for i := 1; i < 5; i++ {
				see(fmt.Sprintf("nodes/n%d", i), `{"instance":"x"}`)
			}
			for i := range tasks {
				term := 9
				if i%5 == 0 {
					term = 5
				}
				see(fmt.Sprintf("tasks/t%d/own", i), fmt.Sprintf(`{"node":"n%d","term":%d,"era":1,"changes":0}`, i%5, term))
				see(fmt.Sprintf("tasks/t%d/spec", i), `{"place":"p"}`)
			}
			if _, ok := m.Decides("t0", now); !ok {
				b.Fatal(m.State())
			}
			for b.Loop() {
				m.Step(now, lease.Woke{})
			}
		})
	}
}
