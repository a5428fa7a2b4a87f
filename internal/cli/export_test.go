package cli

import "holdfast/messages"

// OpenDoor is listenDraining.
var OpenDoor = listenDraining

// Shut is shut.
func (d *drainingListener) Shut() error { return d.shut() }

// Descriptors is what doctor says of so many descriptors.
func Descriptors(limit uint64, l messages.Limits) (status, mend string) {
	f := descriptors(limit, l)
	return f.Status, f.Mend
}

// StateOf is stateOf.
var StateOf = stateOf

// Publish is publish.
var Publish = publish

// EndpointURL is where clients that know the state directory find a node.
func EndpointURL(dir string) (string, error) {
	e, err := readEndpoint(dir)
	return e.URL, err
}
