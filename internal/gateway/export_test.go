package gateway

import "time"

// SetPings changes how often clients are pinged, and how long they may take to answer.
func (g *Gateway) SetPings(every, patience time.Duration) { g.pinging = pinging{every, patience} }

// SetQueue changes how many bytes may wait to be written to a client.
func (g *Gateway) SetQueue(bytes int) { g.queue = bytes }
