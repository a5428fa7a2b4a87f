package mail

// Each order that has an answer implements guard.Order: one that cannot be carried out, or not even be handed over,
// is answered all the same.

// ReplyTo is the call that waits for the outcome.
func (o AnswerDialog) ReplyTo() Call { return o.Reply }

// ReplyTo is the call that waits for the outcome.
func (o Navigate) ReplyTo() Call { return o.Reply }

// ReplyTo is the call that waits for the outcome.
func (o OpenPage) ReplyTo() Call { return o.Reply }

// ReplyTo is the call that waits for the outcome.
func (o ClosePage) ReplyTo() Call { return o.Reply }

// ReplyTo is the call that waits for the outcome.
func (o RecoverPage) ReplyTo() Call { return o.Reply }

// ReplyTo is the call that waits for the outcome.
func (o StartTask) ReplyTo() Call { return o.Reply }

// ReplyTo is the call that waits for the outcome.
func (o StopTask) ReplyTo() Call { return o.Reply }
