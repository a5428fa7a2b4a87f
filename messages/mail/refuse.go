package mail

// Refuse implementations: an order that cannot be carried out, or not even be
// handed over, is answered all the same. They say whether anybody waits.

func refuse(to ReplyTo, err error) bool {
	if to != nil {
		to(nil, err)
	}
	return to != nil
}

// Refuse answers the order with err.
func (o AnswerDialog) Refuse(err error) bool { return refuse(o.Reply, err) }

// Refuse answers the order with err.
func (o Navigate) Refuse(err error) bool { return refuse(o.Reply, err) }

// Refuse answers the order with err.
func (o OpenPage) Refuse(err error) bool { return refuse(o.Reply, err) }

// Refuse answers the order with err.
func (o ClosePage) Refuse(err error) bool { return refuse(o.Reply, err) }

// Refuse answers the order with err.
func (o RecoverPage) Refuse(err error) bool { return refuse(o.Reply, err) }

// Refuse answers the order with err.
func (o StartTask) Refuse(err error) bool { return refuse(o.Reply, err) }

// Refuse answers the order with err.
func (o StopTask) Refuse(err error) bool { return refuse(o.Reply, err) }
