package registry

import (
	"holdfast/internal/pressure"
	"holdfast/messages"
)

// gate lets starts pass until a resource is used to its upper threshold, and
// again once that has fallen to the lower one: between the two it stays as it
// is, or every browser that ends would let one in that is too many again.
type gate struct {
	high, low     float64
	level         pressure.Level
	isSeen        bool // it has been looked at
	isFailureTold bool // that it cannot be read
	isShut        bool
	isShutTold    bool // that it is shut
}

// set changes the thresholds; a high of 0 or below switches the gate off.
func (g *gate) set(high, low float64) {
	g.high, g.low = high, low
	g.decide()
	g.isShutTold = g.isShutTold && g.isOn()
}

// hasNews takes a new measurement and says whether there is something to tell; what
// new thresholds have changed is told by the next one.
func (g *gate) hasNews(l pressure.Level) bool {
	g.level, g.isSeen = l, true
	g.decide()
	news := g.isShut != g.isShutTold
	if g.isOn() && l.Err != nil && !g.isFailureTold {
		g.isFailureTold, news = true, true
	}
	g.isShutTold = g.isShut
	return news
}

func (g *gate) isOn() bool { return g.high > 0 }

// isKnown says whether there is something to decide by. A measure that cannot be read delays
// no start.
func (g *gate) isKnown() bool { return g.isOn() && g.isSeen && g.level.Err == nil }

func (g *gate) decide() {
	switch {
	case !g.isKnown():
		g.isShut = false
	case g.level.Used >= g.high:
		g.isShut = true
	case g.level.Used <= g.low:
		g.isShut = false
	}
}

// load is the gate as callers see it.
func (g *gate) load() messages.Load {
	l := messages.Load{State: messages.LoadOff}
	if !g.isOn() {
		return l
	}
	l.High, l.Low = g.high, g.low
	if !g.isKnown() {
		l.State = messages.LoadUnknown
		return l
	}
	l.State = messages.LoadOK
	if g.isShut {
		l.State = messages.LoadHigh
	}
	l.Used, l.UsedBytes, l.LimitBytes, l.Source = g.level.Used, g.level.Bytes, g.level.Limit, g.level.Source
	return l
}
