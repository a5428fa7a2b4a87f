package bridge

import "holdfast/actors/session/effect"

// What the commands of the bridge are for.
const (
	TagOn effect.TagKind = effect.FirstBridgeTag + iota
	TagScript
	TagOff
	TagTurned // functions off, by a script that is not to stay
	TagAnswer
	TagResume
	TagPass
	TagRequest
	TagOwner
	TagElement
	TagPolicy
	TagRequests // to intercept on the browser's session
)
