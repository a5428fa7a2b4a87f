package sim

import "holdfast/messages"

// autopsy writes into the trace what the browsers know, page by page, with the
// commands that each session has sent: where a world does not settle, this is
// where the reason stands.
func (w *world) autopsy() {
	for _, h := range w.hosts {
		b := h.now()
		for _, p := range b.Pages() {
			w.trace.say("| page %s %+v", w.trace.name("p", string(p.Target)), p)
			for _, f := range b.FramesOf(p.Target) {
				w.trace.say("|   frame %s %+v", w.trace.name("f", string(f.ID)), f)
				if f.Parent != "" && !f.IsOOPIF {
					continue
				}
				for _, s := range b.Sessions(messages.TargetID(f.ID)) {
					for _, c := range b.Connections() {
						if c.Number() == s.Conn {
							w.trace.say("|     session %s of %s: %v", s.ID, c.Host(), c.Received(s.ID))
						}
					}
				}
			}
		}
	}
}
