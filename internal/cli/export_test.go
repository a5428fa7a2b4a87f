package cli

// OpenDoor is openDoor.
var OpenDoor = openDoor

// Shut is shut.
func (d *door) Shut() error { return d.shut() }
