package messages

// Links says which of a task's two links are meant.
type Links string

// The links of a task.
const (
	LinksPrimary Links = "primary" // the first connection
	LinksAnchor  Links = "anchor"  // the second
	LinksBoth    Links = "both"    // the two at once
)

// Validate refuses what names no link.
func (l Links) Validate() error {
	switch l {
	case LinksPrimary, LinksAnchor, LinksBoth:
		return nil
	}
	return Errorf(CodeInvalidArgument, "kill must be primary, anchor or both")
}

// HasPrimary says whether the primary is among them.
func (l Links) HasPrimary() bool { return l == LinksPrimary || l == LinksBoth }

// HasAnchor says whether the anchor is among them.
func (l Links) HasAnchor() bool { return l == LinksAnchor || l == LinksBoth }

// KillRequest asks for links of a task to be broken, to see what follows.
type KillRequest struct {
	// Kill says which.
	Kill Links `json:"kill"`
}

// KillResult names the links that were broken.
type KillResult struct {
	// Killed is each link that was broken.
	Killed []Links `json:"killed"`
}
