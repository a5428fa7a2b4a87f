package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A node that has standbys of another one's tasks asks that node, over one request whose body and
// answer are streams of lines: it names the tasks, and hears how they are.

const (
	// standbysPath is where a node asks.
	standbysPath = "/cluster/standbys"
	// maxLine bounds a line, in bytes.
	maxLine = 1 << 20
	// maxStandbys bounds the tasks of one request.
	maxStandbys = 10_000
	// newsTick is how often it is looked at every task: what is not urgent is told then.
	newsTick = 250 * time.Millisecond
	// lineTime bounds the wait for a node that does not read.
	lineTime = 5 * time.Second
)

// standbyLine is what a node says of a standby.
type standbyLine struct {
	Task messages.TaskID `json:"task"`
	// Epoch, where not 0, begins to ask for a task.
	Epoch uint64 `json:"epoch,omitempty"`
	// IsUp says whether the standby sees the pages; it has left the page Left, or all if IsOver.
	IsUp   *bool             `json:"up,omitempty"`
	Left   messages.TargetID `json:"left,omitempty"`
	IsOver bool              `json:"over,omitempty"`
}

// newsLine is what the node that has a task says of it. IsOver means that it has it no more.
type newsLine struct {
	Task   messages.TaskID   `json:"task"`
	News   *mail.StandbyNews `json:"news,omitempty"`
	IsOver bool              `json:"over,omitempty"`
}

// Follower tells the standby of a task on another node how the task is.
type Follower interface {
	// News returns what is to be told now; isAlive is false once the task has ended.
	News(now time.Time) (news mail.StandbyNews, isNew, isAlive bool)
	// Up notes whether the standby sees the task's pages, and Left that it has left one.
	Up(isUp bool)
	Left(page messages.TargetID)
	// Close notes that it has left all.
	Close()
}

// serveStandbys answers such a request.
func (c *Cluster) serveStandbys(w http.ResponseWriter, r *http.Request) {
	node := r.URL.Query().Get("node")
	control := http.NewResponseController(w)
	if lease.ValidName(node) != nil || control.EnableFullDuplex() != nil {
		answer(w, http.StatusBadRequest, messages.ErrorReply{Error: messages.Errorf(messages.CodeInvalidArgument, "a node's name is wanted")})
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	w.WriteHeader(http.StatusOK)
	if control.Flush() != nil {
		return
	}
	lines := make(chan standbyLine, 64)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer cancel()
		readLines(r.Body, func(l standbyLine) bool {
			select {
			case lines <- l:
				return true
			case <-ctx.Done():
				return false
			}
		})
	})
	defer func() {
		cancel()
		_ = control.SetReadDeadline(time.Now()) // the reader stops
		reader.Wait()
	}()
	f := followers{cluster: c, node: node, of: map[messages.TaskID]Follower{}, out: json.NewEncoder(w), wake: make(chan struct{}, 1)}
	defer f.close()
	ticker := time.NewTicker(newsTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.ctx.Done():
			return
		case l := <-lines:
			f.hear(l)
			continue
		case <-f.wake:
		case <-ticker.C:
			f.turn(slices.Collect(maps.Keys(f.of))...)
		}
		_ = control.SetWriteDeadline(time.Now().Add(lineTime))
		if f.tell(time.Now()) != nil || control.Flush() != nil {
			return
		}
	}
}

// readLines gives take each line, until it says that it is enough.
func readLines[T any](from interface{ Read([]byte) (int, error) }, take func(T) bool) {
	s := bufio.NewScanner(from)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		var line T
		if json.Unmarshal(s.Bytes(), &line) != nil || !take(line) {
			return
		}
	}
}

// followers are the tasks of this node that one other node has standbys of.
type followers struct {
	cluster *Cluster
	node    string
	of      map[messages.TaskID]Follower
	over    []messages.TaskID // to be told
	out     *json.Encoder

	wake   chan struct{} // has one place
	mu     sync.Mutex    // protects what follows
	turned map[messages.TaskID]bool
}

// turn has tasks looked at.
func (f *followers) turn(ids ...messages.TaskID) {
	f.mu.Lock()
	if f.turned == nil {
		f.turned = map[messages.TaskID]bool{}
	}
	for _, id := range ids {
		f.turned[id] = true
	}
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *followers) take() map[messages.TaskID]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	turned := f.turned
	f.turned = nil
	return turned
}

func (f *followers) hear(l standbyLine) {
	one := f.of[l.Task]
	switch {
	case l.Epoch != 0:
		f.begin(l)
	case one == nil:
	case l.IsOver:
		one.Close()
		delete(f.of, l.Task)
	case l.IsUp != nil:
		one.Up(*l.IsUp)
	case l.Left != "":
		one.Left(l.Left)
	}
}

// begin follows a task, if it is this node's under that epoch.
func (f *followers) begin(l standbyLine) {
	id := l.Task
	if old := f.of[id]; old != nil {
		old.Close()
		delete(f.of, id)
	}
	node, known, ok := f.cluster.Place(id)
	if ok && node == f.cluster.config.Node && known == l.Epoch && len(f.of) < maxStandbys {
		if one, runs := f.cluster.config.Tasks.Followed(id, f.node, func() { f.turn(id) }); runs {
			f.of[id] = one
			if l.IsUp != nil {
				one.Up(*l.IsUp)
			}
			f.turn(id)
			return
		}
	}
	f.over = append(f.over, id)
	f.turn()
}

// tell writes what is new.
func (f *followers) tell(now time.Time) error {
	for id := range f.take() {
		one := f.of[id]
		if one == nil {
			continue
		}
		news, isNew, isAlive := one.News(now)
		switch {
		case !isAlive:
			one.Close()
			delete(f.of, id)
			f.over = append(f.over, id)
		case isNew:
			if err := f.out.Encode(newsLine{Task: id, News: shortened(news)}); err != nil {
				return err
			}
		}
	}
	for _, id := range f.over {
		if err := f.out.Encode(newsLine{Task: id, IsOver: true}); err != nil {
			return err
		}
	}
	f.over = nil
	return nil
}

// shortened leaves out what makes a line too long: what is still needed is in the store.
func shortened(n mail.StandbyNews) *mail.StandbyNews {
	if b, err := json.Marshal(n); err == nil && len(b) < maxLine/2 {
		return &n
	}
	n.Memory.Wanted, n.Memory.Recent = nil, nil
	return &n
}

func (f *followers) close() {
	for _, one := range f.of {
		one.Close()
	}
}
