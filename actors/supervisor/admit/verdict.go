package admit

import "holdfast/messages"

// Action is what becomes of what is asked.
type Action uint8

// The actions.
const (
	Forward Action = iota // it may be sent to the browser
	Answer                // what is asked for is so already; nothing is sent
	Refuse                // the caller gets the verdict's error; nothing has been sent
	Own                   // the node carries it out in its own way
	Wait                  // it waits for what becomes known in a moment
)

// Verdict is what becomes of what is asked, with the error of a refusal.
type Verdict struct {
	Action Action
	Err    *messages.Error
}

// Error is the refusal as an error, nil for every other verdict.
func (v Verdict) Error() error {
	if v.Err == nil {
		return nil
	}
	return v.Err
}

func refuse(err *messages.Error) Verdict { return Verdict{Action: Refuse, Err: err} }

// refuseIf is a refusal with err, or forward where there is none.
func refuseIf(err *messages.Error) Verdict {
	if err == nil {
		return Verdict{}
	}
	return refuse(err)
}
