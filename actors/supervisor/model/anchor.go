package model

import (
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// IsAlive says that there is an actor, which may be stopping: it may have to wait for its
// link's end.
func (a *Anchor) IsAlive() bool { return a.Gen > a.LostGen }

// IsHeard says whether what the actor gen says of its link is worth hearing.
func (a *Anchor) IsHeard(gen mail.Generation) bool { return gen == a.Gen && !a.IsStopped }

// Anchor is what the supervisor knows of the task's second link.
type Anchor struct {
	Gen       mail.Generation
	LostGen   mail.Generation // the newest that is over
	IsRunning bool            // its actor lives or is about to, and is to stay
	IsStopped bool            // the running anchor is shutting down; running then refers to its successor
	LinkAt    time.Time
	Linked    mail.Generation // the newest whose link stood
	Browser   string          // it led to; "" for one that does not tell

	Useless   messages.AnchorOff // why there was none, until both links have stood for a while
	Again     time.Time          // not tried before
	Verdicts  int                // on the browser, in a row: each doubles the time until the next trial
	IsTrial   bool               // its life began after a verdict, which one strike confirms
	IsSuspect bool               // the primary fell as soon as the anchor stood
	Lag       time.Duration      // so soon
	Strikes   int                // and the anchor as soon as the primary was back, so often in a row
	CalmAt    time.Time          // both stand since

	// Of this link's life: the primary fell in it; both stood at once.
	HasPrimaryFallen, HaveBothStood bool
	Apart                           int // lives in a row that had the first and not the second
}
