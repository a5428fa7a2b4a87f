package transport

// ShortOpening is shortOpening.
func ShortOpening(head, tail []byte) []byte { return shortOpening(head, tail) }
