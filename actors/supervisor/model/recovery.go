package model

import (
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Recovery runs in the steps that its action needs. Each page has one at a time; an
// order for the same action meanwhile shares its outcome.
type Recovery struct {
	Action  messages.RecoverAction
	Replies []mail.Call // none where the task does it by itself
	Step    RecoveryStep
	Old     messages.SessionID // of the page when it began
	Tries   int                // releases begun anew
	By      messages.TargetID  // the page in its place
}

// RecoveryStep is how far a recovery has come.
type RecoveryStep uint8

// The steps of a recovery.
const (
	StepLeaving   RecoveryStep = iota // the page is being left, to be freed or attached to anew
	StepAttaching                     // and being attached to
	StepReloading                     // it loads anew
	StepReplacing                     // a page is being opened in its place
	StepClosing                       // the page is being closed
)
