package registry

import (
	"holdfast/internal/pressure"
	"holdfast/messages"
)

// gate lets starts pass until a resource is used to its upper threshold, and
// again once that has fallen to the lower one: between the two it stays as it
// is, or every browser that ends would let one in that is too many again.
type gate struct {
	high, low float64
	level     pressure.Level
	seen      bool // it has been looked at
	told      bool // that it cannot be read
	shut      bool
	said      bool // that it is shut
}

// set changes the thresholds; a high of 0 or below switches the gate off.
func (g *gate) set(high, low float64) {
	g.high, g.low = high, low
	g.decide()
	g.said = g.said && g.on()
}

// look takes a new measurement and says whether there is something to tell; what
// new thresholds have changed is told by the next one.
func (g *gate) look(l pressure.Level) bool {
	g.level, g.seen = l, true
	g.decide()
	news := g.shut != g.said
	if g.on() && l.Err != nil && !g.told {
		g.told, news = true, true
	}
	g.said = g.shut
	return news
}

func (g *gate) on() bool { return g.high > 0 }

// known says whether there is something to decide by. A measure that cannot be read delays
// no start.
func (g *gate) known() bool { return g.on() && g.seen && g.level.Err == nil }

func (g *gate) decide() {
	switch {
	case !g.known():
		g.shut = false
	case g.level.Used >= g.high:
		g.shut = true
	case g.level.Used <= g.low:
		g.shut = false
	}
}

// load is the gate as callers see it.
func (g *gate) load() messages.Load {
	l := messages.Load{State: messages.LoadOff}
	if !g.on() {
		return l
	}
	l.High, l.Low = g.high, g.low
	if !g.known() {
		l.State = messages.LoadUnknown
		return l
	}
	l.State = messages.LoadOK
	if g.shut {
		l.State = messages.LoadHigh
	}
	l.Used, l.UsedBytes, l.LimitBytes, l.Source = g.level.Used, g.level.Bytes, g.level.Limit, g.level.Source
	return l
}
