package transport_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/messages"
	"holdfast/transport"
)

// crowd dials through a ration, each dial taking as long as its endpoint does.
type crowd struct {
	*testing.T
	ration *transport.Ration
	stats  transport.Stats
	all    sync.WaitGroup

	mu      sync.Mutex
	dialing map[string]int
	most    map[string]int
	order   []int
	took    map[string]time.Duration // the longest wait and dial
}

func newCrowd(t *testing.T, limits transport.RationLimits) *crowd {
	c := &crowd{T: t, dialing: map[string]int{}, most: map[string]int{}, took: map[string]time.Duration{}}
	c.ration = transport.NewRation(limits, &c.stats)
	return c
}

func (c *crowd) dial(n int, endpoint string, handshake time.Duration) {
	c.dialAs(messages.RolePrimary, n, endpoint, handshake)
}

func (c *crowd) dialAs(role messages.Role, n int, endpoint string, handshake time.Duration) {
	c.all.Go(func() {
		began := time.Now()
		done, err := c.ration.Wait(context.Background(), role, transport.Address{URL: cdpURL(c, endpoint)})
		if err != nil {
			c.Error(err)
			return
		}
		c.count(n, endpoint, 1)
		time.Sleep(handshake)
		c.count(n, endpoint, -1)
		c.mu.Lock()
		c.took[endpoint] = max(c.took[endpoint], time.Since(began))
		c.mu.Unlock()
		done()
	})
	synctest.Wait() // one after the other, so that the order is known
}

func (c *crowd) count(n int, endpoint string, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range []string{"", endpoint} {
		c.dialing[key] += by
		c.most[key] = max(c.most[key], c.dialing[key])
	}
	if by > 0 {
		c.order = append(c.order, n)
	}
}

func TestRation(t *testing.T) {
	t.Parallel()
	inBubble := func(name string, story func(t *testing.T)) {
		t.Run(name, func(t *testing.T) { t.Parallel(); synctest.Test(t, story) })
	}

	inBubble("a thousand at once are sixteen at a time, as they came", func(t *testing.T) {
		c := newCrowd(t, transport.DefaultRation)
		for n := range 1000 {
			c.dial(n, "http://10.0.0.1:9222", time.Second)
		}
		if q := c.stats.DialsWaiting(); q != 1000-16 {
			t.Errorf("%d wait", q)
		}
		c.all.Wait()
		if c.most[""] != 16 || c.took["http://10.0.0.1:9222"] != 63*time.Second {
			t.Errorf("at most %d at once, the last after %s", c.most[""], c.took["http://10.0.0.1:9222"])
		}
		for n, got := range c.order[:len(c.order)-16] {
			if got/16 != n/16 { // dials of one second begin together
				t.Fatalf("the %dth to dial came as the %dth", n, got)
			}
		}
		if q := c.stats.DialsWaiting(); q != 0 {
			t.Errorf("%d wait for ever", q)
		}
	})

	inBubble("a host that swallows every dial delays no other", func(t *testing.T) {
		c := newCrowd(t, transport.DefaultRation)
		const hole, neighbour, healthy = "http://10.0.0.1:9222", "http://10.0.0.1:9333", "http://10.0.0.2:9222"
		for n := range 500 {
			c.dial(n, hole, 10*time.Second)
		}
		for n := range 160 {
			c.dial(n, neighbour, 10*time.Millisecond)
			c.dial(n, healthy, 10*time.Millisecond)
		}
		c.all.Wait()
		for _, endpoint := range []string{neighbour, healthy} {
			if got, alone := c.took[endpoint], 100*time.Millisecond; got > alone {
				t.Errorf("%s took %s, alone it would %s", endpoint, got, alone)
			}
		}
		if c.most[hole] != 16 {
			t.Errorf("%d in the hole at once", c.most[hole])
		}
	})

	inBubble("a machine full of dead browsers does not take all of the node", func(t *testing.T) {
		c := newCrowd(t, transport.DefaultRation)
		for n := range 100 {
			c.dial(n, fmt.Sprintf("http://10.0.0.1:%d", 9000+n), 10*time.Second)
		}
		c.dial(0, "http://10.0.0.2:9222", 0)
		c.all.Wait()
		if got := c.took["http://10.0.0.2:9222"]; got != 0 {
			t.Errorf("the healthy one waited %s", got)
		}
		if c.most[""] != 49 {
			t.Errorf("%d at once", c.most[""])
		}
	})

	one := transport.RationLimits{Total: 2, Host: 1, Endpoint: 1}
	inBubble("primaries come before the anchors that were there first", func(t *testing.T) {
		c := newCrowd(t, one)
		c.dial(0, "http://10.0.0.1:9222", time.Second)
		for n := range 3 {
			c.dialAs(messages.RoleAnchor, 10+n, "http://10.0.0.1:9222", time.Second)
		}
		for n := range 3 {
			c.dial(1+n, "http://10.0.0.1:9222", time.Second)
		}
		c.all.Wait()
		if want := []int{0, 1, 2, 3, 10, 11, 12}; !slices.Equal(c.order, want) {
			t.Errorf("they dialled as %v, want %v", c.order, want)
		}
	})

	inBubble("an anchor waits for no more than sixteen primaries", func(t *testing.T) {
		c := newCrowd(t, one)
		c.dial(0, "http://10.0.0.1:9222", time.Second)
		for n := range 2 {
			c.dialAs(messages.RoleAnchor, 100+n, "http://10.0.0.1:9222", time.Second)
		}
		for n := range 40 {
			c.dial(1+n, "http://10.0.0.1:9222", time.Second)
		}
		c.all.Wait()
		if a, b := slices.Index(c.order, 100), slices.Index(c.order, 101); a != 17 || b != 34 {
			t.Errorf("the anchors were the %dth and the %dth: %v", a, b, c.order)
		}
	})

	inBubble("an anchor that can begin waits for no primary that cannot", func(t *testing.T) {
		c := newCrowd(t, one)
		c.dial(0, "http://10.0.0.1:9222", 10*time.Second)
		c.dial(1, "http://10.0.0.2:9222", time.Second)
		c.dial(2, "http://10.0.0.1:9222", time.Second)
		c.dialAs(messages.RoleAnchor, 3, "http://10.0.0.2:9222", time.Second)
		c.all.Wait()
		if got := c.took["http://10.0.0.2:9222"]; got != 2*time.Second {
			t.Errorf("the anchor took %s", got)
		}
	})

	inBubble("who gives up waiting takes nobody's turn", func(t *testing.T) {
		c := newCrowd(t, transport.RationLimits{Total: 1, Host: 1, Endpoint: 1})
		c.dial(0, "http://10.0.0.1:9222", time.Second)
		ctx, cancel := context.WithCancel(context.Background())
		var given error
		c.all.Go(func() {
			_, given = c.ration.Wait(ctx, messages.RolePrimary, transport.Address{URL: cdpURL(t, "http://10.0.0.1:9222")})
		})
		synctest.Wait()
		c.dial(1, "http://10.0.0.1:9222", time.Second)
		cancel()
		c.all.Wait()
		wantCode(t, given, messages.CodeUpstreamUnavailable)
		if got := c.took["http://10.0.0.1:9222"]; got != 2*time.Second {
			t.Errorf("the other one took %s", got)
		}
	})
}

// A turn and the end of the context at the same time: nothing is lost.
func TestRationRace(t *testing.T) {
	t.Parallel()
	var stats transport.Stats
	r := transport.NewRation(transport.RationLimits{Total: 2, Host: 2, Endpoint: 2}, &stats)
	u := cdpURL(t, "http://10.0.0.1:9222")
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for range 50 {
				ctx, cancel := context.WithCancel(context.Background())
				go cancel()
				if done, err := r.Wait(ctx, messages.RolePrimary, transport.Address{URL: u}); err == nil {
					done()
				}
				cancel()
			}
		})
	}
	all.Wait()
	for range 2 { // both places are free again
		if _, err := r.Wait(t.Context(), messages.RolePrimary, transport.Address{URL: u}); err != nil {
			t.Fatal(err)
		}
	}
}
