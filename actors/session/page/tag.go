package page

import "holdfast/actors/session/effect"

// What the commands of a page are for.
const (
	TagTree    effect.TagKind = effect.FirstTag + iota // its frames
	TagInfo                                            // its title
	TagKey                                             // whether the browser process takes a key for it
	TagSign                                            // a sign of life of the browser process
	TagHistory                                         // what it shows
	TagProbe                                           // a sign of life of the renderer
	TagReload
	TagAway // to a blank page
	TagNavigate
	TagUnreachable // the address that an error page stands for
	TagErrorPage   // what it says of it
)
