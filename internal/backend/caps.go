package backend

// Known is what is known beforehand of something that a browser may be able to do.
type Known uint8

// What is known of an ability.
const (
	Unknown Known = iota // it is tried, and a refusal is learnt from
	Yes                  // it is tried as well: a browser may refuse one page what it gives another
	No                   // it is not tried
)

// Caps says what a browser is known to be able to do. The zero value knows nothing: every
// ability is tried.
type Caps struct {
	// SecondLink is whether a second link may stand beside the first and lead to the
	// same browser. Without one a task has no anchor.
	SecondLink Known
	// TargetDomain is whether the browser's own session has the Target domain, by which
	// pages are attached to, opened and left. Without it the backend gives the task its
	// pages: it reports each with Target.attachedToTarget on the browser's session as soon
	// as the link stands, and its end with Target.detachedFromTarget. Such a task opens no
	// page, and a page is neither released nor attached to anew.
	TargetDomain Known
	// Discover is whether Target.setDiscoverTargets is understood. Without it the title of
	// a page is asked for, and a page has ended when its session has and it is not found.
	Discover Known
	// Windows is whether pages can be opened in windows of their own. Without it each is a
	// tab.
	Windows Known
	// Debugger is whether a page's session is given the Debugger domain. Without it the
	// bridge goes by requests.
	Debugger Known
	// RootFetch is whether the browser's own session may hold requests (Fetch.enable).
	// Without it the bridge does not go by requests.
	RootFetch Known
}
