package dialog

import (
	"time"

	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TimerFired is an Arm that has come due.
type TimerFired struct{ Name string }

// Leave asks for the dialogs to be dismissed that would otherwise stay open
// for good on pages that outlive the task (C17). Left follows when none is.
type Leave struct{}

// Left answers Leave.
type Left struct{}

// Start sets the watchdogs of remembered dialogs and applies the policy to
// them. It comes once the sessions are known.
type Start struct{}

// Effects of the machine.
type (
	// Effect is anything the machine wants done.
	Effect any

	// ToSession is an order to a session of the page, on the link of Role.
	ToSession struct {
		Role messages.Role
		Msg  mail.HandleDialog
	}

	// ProbeSession and MoveSession are orders about a dialog that may be doomed (C58),
	// to a session of the page on the link of Role.
	ProbeSession struct {
		Role messages.Role
		Msg  mail.ProbeDialog
	}
	MoveSession struct {
		Role messages.Role
		Msg  mail.MovePage
	}

	// ToSupervisor is a message to the supervisor.
	ToSupervisor struct{ Msg any }

	// Arm sets a named timer anew; Disarm drops it.
	Arm struct {
		Name  string
		After time.Duration
	}
	Disarm struct{ Name string }

	// Cut says that a bound has cut something off.
	Cut struct{ Bound shed.Bound }

	// Answer replies to the caller of an order.
	Answer struct {
		To    mail.Call
		Value any
		Err   error
	}
)
