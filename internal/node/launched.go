package node

import (
	"holdfast/internal/browser"
	"holdfast/transport"
)

// launchedBrowser is a browser that the node has launched, and the way to it.
type launchedBrowser struct {
	*browser.Process
	at transport.Address
}

func launched(p *browser.Process) launchedBrowser {
	from, to, ok := p.Pipe()
	if !ok {
		return launchedBrowser{p, transport.Address{URL: p.Endpoint()}}
	}
	return launchedBrowser{p, transport.Address{Pipe: transport.NewPipe(from, to)}}
}

// Address implements supervisor.Browser.
func (b launchedBrowser) Address() transport.Address { return b.at }
