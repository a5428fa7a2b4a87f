package transport

// Unread is what the reader finds of an event without walking it.
func Unread(msg []byte) (e Event, session []byte, ok bool) {
	method := peekMethod(msg)
	if method == nil {
		return e, nil, false
	}
	params, session, ok := unread(msg, string(method))
	return Event{Method: string(method), Params: params}, session, ok
}
