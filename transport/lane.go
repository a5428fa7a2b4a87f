package transport

// lane is a queue of commands that wait to be written. The zero value is ready. The link's
// lock protects it.
type lane struct {
	commands []*command
	head     int
}

func (l *lane) len() int { return len(l.commands) - l.head }

func (l *lane) push(c *command) { l.commands = append(l.commands, c) }

// pop takes the first command, nil where there is none.
func (l *lane) pop() *command {
	if l.len() == 0 {
		return nil
	}
	c := l.commands[l.head]
	l.commands[l.head] = nil
	if l.head++; l.len() == 0 {
		if cap(l.commands) > 64 {
			l.commands = nil
		}
		l.commands, l.head = l.commands[:0], 0
	}
	return c
}
