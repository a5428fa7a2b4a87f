package node

import (
	"context"
	"slices"
	"time"

	"holdfast/actors/registry"
	"holdfast/actors/supervisor/view"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Standby is this node's hold on a task of another node: see [registry.StartStandby]. Its methods
// are for one goroutine, but Ended and IsUp.
type Standby struct {
	node  *Node
	id    messages.TaskID
	board *view.Board
}

// StandBy begins a standby. What it is told first is in news.
//
// Codes: invalid_argument, and limit_reached where the node has something of the task.
func (n *Node) StandBy(ctx context.Context, id messages.TaskID, spec messages.TaskSpec, news mail.StandbyNews) (*Standby, error) {
	spec = spec.Normalized()
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	spec.NodeRules = n.cfg.DialogRules
	resumed := mail.Resumed{Memory: news.Memory, IsWithheld: true, IsStandby: true, Off: news.Off}
	board, err := n.ask(ctx, nil, func(r mail.Call) {
		n.sys.Send(n.registry.PID(), registry.StartStandby{ID: id, Spec: spec, Resumed: resumed, Reply: r})
	})
	if err != nil {
		return nil, err
	}
	return &Standby{node: n, id: id, board: board.(registry.StandbyBoard).Board}, nil
}

// Ended is closed once the standby has ended: its link was lost, or it was stopped.
func (s *Standby) Ended() <-chan struct{} { return s.board.Ended() }

// IsUp says whether it sees the task's pages.
func (s *Standby) IsUp() bool { return s.board.View().Snapshot.Connection.Anchor == messages.LinkUp }

// Follow tells how the task is now.
func (s *Standby) Follow(news mail.StandbyNews) {
	s.node.sys.Send(s.node.registry.PID(), registry.ToStandby{ID: s.id, Msg: mail.FollowTask{News: news}})
}

// Respec gives it another spec of the same browser.
func (s *Standby) Respec(spec messages.TaskSpec) {
	spec = spec.Normalized()
	spec.NodeRules = s.node.cfg.DialogRules
	s.node.sys.Send(s.node.registry.PID(), registry.RespecStandby{ID: s.id, Spec: spec})
}

// LeavePage leaves a page, and waits until it has been left.
func (s *Standby) LeavePage(ctx context.Context, page messages.TargetID) error {
	_, err := s.node.ask(ctx, s.board.Ended(), func(r mail.Call) {
		s.node.sys.Send(s.node.registry.PID(), registry.ToStandby{ID: s.id, Msg: mail.LeaveAsStandby{Page: page, Reply: r}})
	})
	return err
}

// Stop ends the standby.
func (s *Standby) Stop(ctx context.Context) error {
	_, err := s.node.ask(ctx, nil, func(r mail.Call) {
		s.node.sys.Send(s.node.registry.PID(), registry.StopStandby{ID: s.id, Reply: r})
	})
	return err
}

// Promote makes it a task of this node, which decides for it as soon as it is told so.
func (s *Standby) Promote(ctx context.Context, memory mail.TaskMemory) error {
	_, err := s.node.ask(ctx, s.board.Ended(), func(r mail.Call) {
		s.node.sys.Send(s.node.registry.PID(), registry.PromoteStandby{ID: s.id, Memory: memory, Reply: r})
	})
	return err
}

// newsEvery is how often what has changed for a standby is told that is not urgent.
const newsEvery = time.Second

// Follower tells the standby of a task on another node how the task is. Its methods are for one
// goroutine.
type Follower struct {
	node  *Node
	id    messages.TaskID
	name  string // the other node's
	board *view.Board

	view  *view.View // as it was looked at last
	off   []messages.TargetID
	pages []messages.TargetID // told last
	open  []messages.DialogID
	at    time.Time // of that; zero: nothing was told
}

// Followed has the standby on another node of the cluster follow a task of this one. It is false for
// a task that does not run here. Changed is called with every change of it, and must not wait.
func (n *Node) Followed(id messages.TaskID, by string, changed func()) (*Follower, bool) {
	b := n.directory.Board(id)
	if b == nil || !b.View().Snapshot.Active {
		return nil, false
	}
	f := &Follower{node: n, id: id, name: by, board: b}
	b.Watch(changed)
	f.tell(mail.StandbyAttached{Node: by})
	return f, true
}

func (f *Follower) tell(msg any) {
	if to := f.board.View().Supervisor; to != nil {
		f.node.sys.Send(to, msg)
	}
}

// News returns what is to be told now: at once what pages, dialogs and the pages to be left are
// about, and once a second the rest. The end of the task is false in isAlive.
func (f *Follower) News(now time.Time) (news mail.StandbyNews, isNew, isAlive bool) {
	v := f.board.View()
	if !v.Snapshot.Active || f.node.directory.Board(f.id) != f.board {
		return news, false, false
	}
	off, _ := f.board.ClientPages()
	isOff := !slices.Equal(off.StandbyOff, f.off)
	if v == f.view && !isOff {
		return news, false, true
	}
	pages, open := pagesOf(v.Snapshot), dialogsOf(v.Snapshot)
	isUrgent := isOff || !slices.Equal(pages, f.pages) || !slices.Equal(open, f.open)
	if !f.at.IsZero() && !isUrgent && now.Sub(f.at) < newsEvery {
		return news, false, true
	}
	memory, ok := f.node.Memory(f.id)
	if !ok {
		return news, false, true // it has not been attached yet
	}
	f.view, f.off, f.pages, f.open, f.at = v, off.StandbyOff, pages, open, now
	return mail.StandbyNews{Memory: memory, Off: off.StandbyOff}, true, true
}

func pagesOf(s *messages.Snapshot) (ids []messages.TargetID) {
	for _, p := range s.Pages {
		ids = append(ids, p.TargetID)
	}
	return ids
}

func dialogsOf(s *messages.Snapshot) (ids []messages.DialogID) {
	for _, d := range s.PendingDialogs {
		ids = append(ids, d.ID)
	}
	return ids
}

// Up notes whether the standby sees the task's pages.
func (f *Follower) Up(isUp bool) { f.tell(mail.StandbyAttached{Node: f.name, IsUp: isUp}) }

// Left notes that it has left a page.
func (f *Follower) Left(page messages.TargetID) { f.tell(mail.StandbyLeft{Node: f.name, Page: page}) }

// Close notes that it has left all pages.
func (f *Follower) Close() {
	f.board.Watch(nil)
	f.tell(mail.StandbyGone{Node: f.name})
}
