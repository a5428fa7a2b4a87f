package transport

// ShortOpening is shortOpening.
func ShortOpening(head, tail []byte) []byte { return shortOpening(head, tail) }

// ShortPaused is shortPaused.
func ShortPaused(head, tail []byte) []byte { return shortPaused(head, tail) }
