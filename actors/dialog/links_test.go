package dialog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// browser is a naive account of a browser that two links of a task look at,
// each hearing of everything in order and at its own pace.
type browser struct {
	*rapid.T
	m     *dialog.Machine
	now   time.Time
	links [messages.Roles]*link
	open  map[messages.TargetID]*native
	all   int
	// mixed has a dialog that may have opened before each link was known to listen. The
	// next opens once all reports of it have arrived: a slow link's report would be
	// ambiguous.
	mixed map[messages.TargetID]bool
	stray []any // not yet delivered to the machine, from links that are gone

	issued  uint64
	memory  mail.DialogMemory // as last told
	anew    bool              // the machine has yet to hear from the links who looks on
	known   map[messages.DialogID]*native
	pending map[messages.DialogID]bool
	timers  map[string]bool
	asked   int
	replies map[int]int
}

type link struct {
	role   messages.Role
	gen    mail.Generation
	up     bool
	pages  map[messages.TargetID]messages.SessionID
	deaf   map[messages.TargetID]bool // their Page.enable has not come to the browser yet
	unsaid map[messages.TargetID]bool // that it has been answered, to the machine
	queue  []any                      // not yet delivered to the machine
	orders []mail.HandleDialog        // not yet delivered to the browser
}

// native is a dialog as it really is.
type native struct {
	page     messages.TargetID
	frame    messages.FrameID
	kind     messages.DialogType
	audience map[messages.SessionID]bool // who saw it open and may answer (C6)
	unsure   bool                        // it opened before each link was known to listen
	id       messages.DialogID           // once the machine has heard of it
	closed   bool
	by       messages.DialogID // whose answer it got
}

// each are the sessions that hear of a page's dialogs.
func (b *browser) each(do func(*link, messages.TargetID, messages.SessionID), page messages.TargetID) {
	for _, l := range b.links {
		if s := l.pages[page]; l.up && s != "" && !l.deaf[page] {
			do(l, page, s)
		}
	}
}

func (b *browser) opens(page messages.TargetID, frame messages.FrameID, kind messages.DialogType) {
	b.all++
	n := &native{page: page, frame: frame, kind: kind, audience: map[messages.SessionID]bool{}}
	for _, l := range b.links {
		n.unsure = n.unsure || l.up && l.unsaid[page]
	}
	text := "again and again"
	if n.unsure { // it can only be told from one before by its text
		text = fmt.Sprint(b.all)
	}
	b.mixed[page] = n.unsure
	b.open[page] = n
	b.each(func(l *link, page messages.TargetID, s messages.SessionID) {
		n.audience[s] = true
		l.queue = append(l.queue, told{n, mail.DialogOpened{
			Role: l.role, Gen: l.gen, Session: s, Page: page, Frame: frame, Type: kind, Message: text,
		}})
	}, page)
}

// told is a message and the dialog it is about.
type told struct {
	about *native
	msg   any
}

func (b *browser) closes(page messages.TargetID, by messages.DialogID) {
	n := b.open[page]
	delete(b.open, page)
	n.closed, n.by = true, by
	b.each(func(l *link, page messages.TargetID, s messages.SessionID) {
		l.queue = append(l.queue, mail.DialogClosed{Role: l.role, Gen: l.gen, Session: s, Page: page, Frame: n.frame, IsAccepted: by != ""})
		if !n.audience[s] { // its Page.enable had been waiting
			l.queue = append(l.queue, mail.PageCovered{Role: l.role, Gen: l.gen, Page: page, Session: s})
		}
	}, page)
}

func (b *browser) attaches(l *link, page messages.TargetID) {
	s := messages.SessionID(fmt.Sprintf("%s%d%s", l.role, l.gen, page))
	l.pages[page], l.deaf[page], l.unsaid[page] = s, true, true
	l.queue = append(l.queue, mail.PageWatched{Role: l.role, Gen: l.gen, Page: page, Session: s})
}

// listens has a link's Page.enable come to the browser. Under a dialog that works at
// once, for those after it, and is answered when that one is gone (C22).
func (b *browser) listens(l *link, page messages.TargetID) {
	delete(l.deaf, page)
	if b.open[page] == nil {
		l.queue = append(l.queue, mail.PageCovered{Role: l.role, Gen: l.gen, Page: page, Session: l.pages[page]})
	}
}

var noDialog = messages.Errorf(messages.CodeCDPError, "No dialog is showing")

func (b *browser) executes(l *link) {
	o := l.orders[0]
	l.orders = l.orders[1:]
	n := b.open[o.Page]
	if n == nil || !n.audience[o.Session] || b.known[o.Dialog].closed { // the last is luck: CDP gives dialogs no id
		l.queue = append(l.queue, mail.DialogHandled{Dialog: o.Dialog, Session: o.Session, Err: noDialog})
		return
	}
	if n.id != o.Dialog {
		b.Fatalf("an answer to %s meets %s", o.Dialog, n.id)
	}
	b.closes(o.Page, o.Dialog)
	l.queue = append(l.queue, mail.DialogHandled{Dialog: o.Dialog, Session: o.Session})
}

func (b *browser) delivers(l *link) {
	msg := l.queue[0]
	l.queue = l.queue[1:]
	if c, ok := msg.(mail.PageCovered); ok {
		delete(l.unsaid, c.Page)
	}
	t, ok := msg.(told)
	if !ok {
		b.step(msg)
		return
	}
	before := b.issued
	b.step(t.msg)
	switch {
	case t.about.id == "" && b.issued == before+1:
		t.about.id = messages.NewDialogID(b.issued)
		b.known[t.about.id] = t.about
	case t.about.id == "":
		b.Fatalf("a dialog is taken for another one")
	case b.issued != before && t.about.unsure && t.about.closed && !b.links[1-l.role].up:
		// It may be another that looks the same, and no other link would report that.
		b.known[messages.NewDialogID(b.issued)] = t.about
	case b.issued != before:
		b.Fatalf("%s is taken up once more, as d-%d", t.about.id, b.issued)
	}
}

// falls ends a link. What has become of its orders may be heard of after that.
func (b *browser) falls(l *link, before, sent bool) {
	for _, o := range l.orders {
		h := mail.DialogHandled{Dialog: o.Dialog, Session: o.Session, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the link is gone").WithSent(messages.SentIf(sent))}
		if before {
			b.step(h)
		} else {
			b.stray = append(b.stray, h)
		}
	}
	l.orders, l.queue, l.up = nil, nil, false
	clear(l.pages)
	clear(l.deaf)
	clear(l.unsaid)
	b.step(mail.LinkLost{Role: l.role, Gen: l.gen})
}

func (b *browser) step(in any) {
	b.now = b.now.Add(time.Millisecond)
	for _, e := range b.m.Step(b.now, in) {
		switch e := e.(type) {
		case dialog.ToSession:
			l := b.links[e.Role]
			if !l.up || l.pages[e.Msg.Page] != e.Msg.Session {
				b.Fatalf("%s is answered by a session that is gone", e.Msg.Dialog)
			}
			l.orders = append(l.orders, e.Msg)
		case dialog.ToSupervisor:
			if c, ok := e.Msg.(mail.DialogsChanged); ok {
				b.memory = c.Memory
				if c.Opened != nil {
					b.issued++
				}
				clear(b.pending)
				for _, d := range c.Pending {
					b.pending[d.ID] = true
				}
			}
		case dialog.Arm:
			b.timers[e.Name] = true
		case dialog.Disarm:
			delete(b.timers, e.Name)
		case dialog.Answer:
			calls.Answer(e.To, e.Value, e.Err)
		}
	}
	for name := range b.timers {
		_, id, _ := strings.Cut(name, ":")
		if !slices.ContainsFunc(b.memory.Open, func(o mail.OpenDialog) bool { return o.Dialog.ID == messages.DialogID(id) }) {
			b.Fatalf("%s runs after %T, and that dialog is over", name, in)
		}
	}
}

// fails has another machine go on from memory. Each link tells it anew, at its own
// pace, on which pages it looks. What was under way to the last one is lost, and
// what becomes of that is the supervisor's to find out: nothing is.
func (b *browser) fails() {
	b.rests()
	b.anew = true
	clear(b.timers)
	for n := range b.asked {
		b.replies[n] = 1 // by the last one's end, if not before
	}
	b.m = dialog.NewMachine(messages.TaskSpec{BeforeUnload: messages.BeforeUnloadAsk}.WithDefaults(), b.memory)
	b.step(dialog.Start{})
	for _, l := range b.links {
		if !l.up {
			b.step(mail.LinkLost{Role: l.role, Gen: l.gen})
		}
		for _, page := range sortedKeys(l.pages) {
			s := l.pages[page]
			l.queue = append(l.queue, mail.PageWatched{Role: l.role, Gen: l.gen, Page: page, Session: s})
			if !l.unsaid[page] {
				l.queue = append(l.queue, mail.PageCovered{Role: l.role, Gen: l.gen, Page: page, Session: s})
			}
		}
	}
}

func (b *browser) strays() {
	for _, msg := range b.stray {
		b.step(msg)
	}
	b.stray = nil
}

// rests delivers everything that is queued.
func (b *browser) rests() {
	for again := true; again; {
		again = false
		for _, l := range b.links {
			for len(l.queue) > 0 || len(l.orders) > 0 {
				again = true
				if len(l.queue) > 0 {
					b.delivers(l)
				} else {
					b.executes(l)
				}
			}
		}
	}
	b.strays()
	b.anew = false
	for _, name := range sorted(b.timers) {
		if strings.HasPrefix(name, "outcome:") || strings.HasPrefix(name, "wayless:") {
			delete(b.timers, name)
			b.step(dialog.TimerFired{Name: name})
		}
	}
	for page, n := range b.open {
		reachable := false
		b.each(func(_ *link, _ messages.TargetID, s messages.SessionID) { reachable = reachable || n.audience[s] }, page)
		if reachable && !b.pending[n.id] {
			b.Fatalf("%s (%q) stands open on %s, can be answered, and is not pending: %v", n.id, n.kind, page, b.pending)
		}
	}
	for id := range b.pending {
		if n := b.known[id]; n == nil || n.closed {
			b.Fatalf("%s is pending and closed", id)
		}
	}
}

func (b *browser) reply() mail.Call {
	n := b.asked
	b.asked++
	return calls.Open(func(value any, err error) {
		if b.replies[n]++; b.replies[n] > 1 {
			b.Fatalf("answer %d is given %d replies", n, b.replies[n])
		}
		if c, ok := value.(messages.ClosedDialog); ok && !b.known[c.ID].closed {
			b.Fatalf("%s is said to be answered and stands open", c.ID)
		}
	})
}

func TestTwoLinksAreOneAccount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := &browser{
			T: t, now: time.Unix(1000, 0), open: map[messages.TargetID]*native{}, mixed: map[messages.TargetID]bool{}, known: map[messages.DialogID]*native{},
			pending: map[messages.DialogID]bool{}, timers: map[string]bool{}, replies: map[int]int{},
			m: dialog.NewMachine(messages.TaskSpec{BeforeUnload: messages.BeforeUnloadAsk}.WithDefaults(), mail.DialogMemory{}),
		}
		pages := []messages.TargetID{"P1", "P2"}
		for role := range messages.Roles {
			b.links[role] = &link{
				role: role, pages: map[messages.TargetID]messages.SessionID{},
				deaf: map[messages.TargetID]bool{}, unsaid: map[messages.TargetID]bool{},
			}
		}
		// What happens before the machine has heard that a link looks on cannot
		// be told apart from what happens after: a link comes when all is quiet and
		// no dialog is open.
		rises := func(l *link) {
			b.rests()
			l.up = true
			l.gen++
			for _, p := range pages {
				b.attaches(l, p)
			}
			b.rests()
		}
		for _, l := range b.links {
			rises(l)
			for _, p := range pages {
				b.listens(l, p)
			}
			b.rests()
		}
		any := func() *link { return b.links[rapid.IntRange(0, 1).Draw(t, "link")] }
		page := func() messages.TargetID { return rapid.SampledFrom(pages).Draw(t, "page") }
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				p := page()
				if b.open[p] != nil || b.answering(p) || b.mixed[p] && b.telling() {
					return
				}
				b.opens(p, messages.FrameID(p)+rapid.SampledFrom([]messages.FrameID{"", "/f"}).Draw(t, "frame"),
					rapid.SampledFrom([]messages.DialogType{"confirm", "prompt"}).Draw(t, "kind"))
			},
			"somebody closes": func(*rapid.T) {
				if p := page(); b.open[p] != nil {
					b.closes(p, "")
				}
			},
			"deliver": func(*rapid.T) {
				if l := any(); len(l.queue) > 0 {
					b.delivers(l)
				}
			},
			"execute": func(*rapid.T) {
				if l := any(); len(l.orders) > 0 {
					b.executes(l)
				}
			},
			"answer": func(t *rapid.T) {
				if len(b.pending) == 0 {
					return
				}
				b.step(mail.AnswerDialog{
					Answer: messages.DialogAnswer{Action: "accept", DialogID: rapid.SampledFrom(sorted(b.pending)).Draw(t, "id")},
					Reply:  b.reply(),
				})
			},
			"fall": func(t *rapid.T) {
				l := any()
				if !l.up || b.anew {
					return // what the other has told of alone is announced again then
				}
				for len(l.orders) > 0 && rapid.Bool().Draw(t, "arrived") {
					b.executes(l)
				}
				for len(l.queue) > 0 && rapid.Bool().Draw(t, "heard") {
					b.delivers(l)
				}
				b.falls(l, rapid.Bool().Draw(t, "before"), rapid.Bool().Draw(t, "sent"))
			},
			"stray": func(*rapid.T) { b.strays() },
			"a dialog as a link comes": func(t *rapid.T) {
				b.rests()
				l, p := any(), page()
				other := b.links[1-l.role]
				if len(b.open) > 0 || !other.up {
					return
				}
				if l.up {
					b.falls(l, true, true)
				}
				rises(l)
				if rapid.Bool().Draw(t, "listens") {
					b.listens(l, p)
				}
				b.opens(p, messages.FrameID(p), "confirm")
				if len(other.queue) > 0 {
					b.delivers(other)
				}
			},
			"rise": func(*rapid.T) {
				if l := any(); !l.up && len(b.open) == 0 {
					rises(l)
				}
			},
			"listen": func(*rapid.T) {
				if l, p := any(), page(); l.deaf[p] {
					b.listens(l, p)
				}
			},
			"fail": func(*rapid.T) { b.fails() },
			"rest": func(*rapid.T) { b.rests() },
		})
		b.rests()
		for _, l := range b.links {
			if l.up {
				b.falls(l, true, true)
			}
		}
		for n := range b.asked {
			if b.replies[n] != 1 {
				b.Fatalf("answer %d has %d replies", n, b.replies[n])
			}
		}
	})
}

// telling says whether a link has yet to tell of something.
func (b *browser) telling() bool {
	return len(b.links[0].queue)+len(b.links[1].queue)+len(b.stray) > 0
}

// answering says whether an answer to the page's last dialog is under way. It could meet
// the next one: CDP gives dialogs no id.
func (b *browser) answering(p messages.TargetID) bool {
	for _, l := range b.links {
		for _, o := range l.orders {
			if o.Page == p {
				return true
			}
		}
	}
	return false
}
