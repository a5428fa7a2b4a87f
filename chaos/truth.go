package chaos

import (
	"maps"
	"slices"

	"holdfast/messages"
)

// Frame is a frame as it really is.
type Frame struct {
	ID        messages.FrameID
	Parent    messages.FrameID  // "" for a main frame
	Page      messages.TargetID // the tab it is in
	Target    messages.TargetID // who owns its document; its own id for an OOPIF
	URL       string
	IsOOPIF   bool
	IsLoading bool // held or still without its first document
	HasDialog bool // has a dialog open
	IsHanging bool // its process is under a dialog, in a loop or dead
	IsPaused  bool // its process stands still in the debugger
}

// Page is a tab as it really is.
type Page struct {
	Target     messages.TargetID
	Opener     messages.TargetID
	URL        string
	Title      string
	IsFront    bool
	IsHeld     bool // not yet resumed by every client that holds it (C32)
	IsFrozen   bool // held by a client that is gone (C33)
	IsBusy     bool
	IsCrashed  bool
	Dialogs    int  // open ones, native
	Asks       int  // over a bridge
	IsStuck    bool // stands still in the debugger, with nothing that could be answered
	IsPoisoned bool
	IsComing   bool // its next document has only to take its place
	Sessions   []Session
}

// Session is a client's session as it really is.
type Session struct {
	ID             messages.SessionID
	Target         messages.TargetID
	Conn           int
	IsAutoAttached bool // made by auto-attach
	IsPageEnabled  bool
	IsWaiting      bool
}

// Frames returns every frame of every page, parents before children, siblings
// in the order they were added.
func (b *Browser) Frames() []Frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Frame
	for _, p := range b.pages {
		out = p.main.truth(out)
	}
	return out
}

// FramesOf is [Browser.Frames] of one page.
func (b *Browser) FramesOf(page messages.TargetID) []Frame {
	return slices.DeleteFunc(b.Frames(), func(f Frame) bool { return f.Page != page })
}

func (f *frame) truth(out []Frame) []Frame {
	t := Frame{
		ID: f.id, Page: f.page.target.id, Target: f.target.id, URL: f.publicURL(),
		IsOOPIF: f.parent != nil && f.target.root == f, IsLoading: f.isFresh,
		IsHanging: f.target.proc.isBlocking(inRenderer), IsPaused: f.target.proc.pause != nil,
	}
	if f.parent != nil {
		t.Parent = f.parent.id
	}
	for _, d := range f.page.dialogs {
		t.HasDialog = t.HasDialog || d.frame == f
	}
	if p := f.target.pause; p != nil && p.frame == f && p.call != nil {
		t.HasDialog = true
	}
	out = append(out, t)
	for _, child := range f.children {
		out = child.truth(out)
	}
	return out
}

// Pages returns every tab in the order they were opened.
func (b *Browser) Pages() []Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Page
	for _, p := range b.pages {
		t := p.target
		q := Page{
			Target: t.id, Opener: p.opener, URL: p.main.publicURL(), Title: p.main.title, IsFront: b.front == p,
			IsHeld: t.start != nil && !t.proc.isStarting, IsFrozen: t.isFrozen, IsBusy: t.proc.isBusy, IsCrashed: t.proc.isCrashed,
			IsComing: p.coming != nil, Dialogs: len(p.dialogs), Asks: len(b.asks(p)), Sessions: t.truth(),
		}
		for _, d := range p.dialogs {
			q.IsPoisoned = q.IsPoisoned || d.isPoisoned
		}
		for _, t := range b.targets {
			q.IsStuck = q.IsStuck || t.page == p && t.pause != nil && t.pause.call == nil
		}
		out = append(out, q)
	}
	return out
}

// OpenDialogs returns the open dialogs, pages in the order they were opened, those of a
// page in the order they came. What its frames ask over a bridge comes last.
func (b *Browser) OpenDialogs() []*Dialog {
	b.mu.Lock()
	defer b.mu.Unlock()
	var open []*Dialog
	for _, p := range b.pages {
		open = append(append(open, p.dialogs...), b.asks(p)...)
	}
	return open
}

// Sessions returns the sessions on a target in the order they were attached.
func (b *Browser) Sessions(id messages.TargetID) (out []Session) {
	b.withTarget(id, func(t *target) { out = t.truth() })
	return out
}

func (t *target) truth() []Session {
	var out []Session
	for _, s := range t.sessions {
		out = append(out, Session{
			ID: s.id, Target: t.id, Conn: s.conn.number, IsAutoAttached: s.isAuto,
			IsPageEnabled: s.isPageInBrowser, IsWaiting: slices.Contains(t.waiting, s),
		})
	}
	return out
}

// MainFrame returns the id of a page's main frame, which is the id of its
// target.
func (b *Browser) MainFrame(id messages.TargetID) messages.FrameID { return messages.FrameID(id) }

// Scripts returns what the live sessions of a target have asked to run on
// every new document, in the order they would run.
func (b *Browser) Scripts(id messages.TargetID) (out []string) {
	b.withTarget(id, func(t *target) {
		for _, s := range t.sessions {
			if s.isPageInRenderer {
				for _, script := range s.scripts {
					out = append(out, script.source)
				}
			}
		}
	})
	return out
}

// Settings returns what the live sessions of a target have set, or those of
// the browser itself for "": the parameters by method.
func (b *Browser) Settings(id messages.TargetID) map[string]string {
	out := map[string]string{}
	b.do(func() {
		for _, c := range b.conns {
			for _, s := range c.sessions {
				if s.target == nil && id == "" || s.target != nil && s.target.id == id {
					maps.Copy(out, s.settings)
				}
			}
		}
	})
	return out
}

// TakeBack removes a setting from every session of a target. The end of a session does so
// with a setting that is common to all of them.
func (b *Browser) TakeBack(id messages.TargetID, method string) {
	b.do(func() {
		b.sessions(func(s *session) {
			if s.target != nil && s.target.id == id {
				delete(s.settings, method)
			}
		})
	})
}

// Dials returns how many WebSockets have ever been opened.
func (b *Browser) Dials() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dials
}
