package link

import "holdfast/actors/session/effect"

// What the commands of a link are for.
const (
	TagRoot  effect.TagKind = effect.FirstTag + iota // to attach to every page
	TagGiven                                         // whether the backend has given every page
	TagCreate
	TagClose
	TagAlone // whether a client is attached to a page
	TagCheck // whether a page is there
	TagReattach
	TagLeave   // whether a session whose actor has failed may leave its page
	TagCalm    // to hold no page any more
	TagFlushed // whether the browser has heard all
	TagOff     // to attach to no page any more
	TagLate    // to attach to one that was held meanwhile
	TagHeard   // whether the browser has heard that it is resumed
	TagCover
	TagCoverFrame // its Page is the frame
	TagLeft       // a page, on order
	TagPageLeft   // another task's page
	TagVersion    // what the browser is
	TagDisplay    // the same, for pages that wait to be opened
	TagContext    // to make a browser context
	TagDispose
)
