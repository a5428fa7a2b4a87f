package voter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/storage/wal"
)

const (
	// askEvery is the pause between two questions to the other voters, and askPatience how long
	// an answer is waited for.
	askEvery    = 300 * time.Millisecond
	askPatience = time.Second
	// promoteEvery is the pause between two requests for a vote.
	promoteEvery = 300 * time.Millisecond
	// confirmTime bounds the wait for a quorum to confirm the list of members.
	confirmTime = 500 * time.Millisecond
	// recoverTime bounds the start of a store of one's own.
	recoverTime = 20 * time.Second
	// foundedFile is there once the voter has been part of a quorum.
	foundedFile = "founded"
)

// Duties are what a Keeper needs of its node.
type Duties struct {
	// Ask asks another voter, by its name, how it stands.
	Ask func(ctx context.Context, name string) (Standing, error)
	// Serving hears the URLs at which the voters serve clients, once this one is ready.
	Serving func(endpoints []string)
	// Close ends what Ask has open.
	Close func()
}

// Keeper runs the voter of a node. Before the first start it finds out from the other voters
// that it is new: one that has lost its data must not start under its name. Its methods are
// safe for concurrent use.
type Keeper struct {
	config Config
	duties Duties
	cancel context.CancelFunc
	all    sync.WaitGroup
	failed chan error

	mu    sync.Mutex
	voter *Voter // nil before the start, and after the end
}

// Keep starts a Keeper. The voter starts in the background.
func Keep(c Config, d Duties) (*Keeper, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("voter: %w", err)
	}
	if !c.hasData() && c.isFounded() {
		return nil, fmt.Errorf("voter: the data of voter %s is lost, and without it the voter could break its word: %s", c.Name, cure(c))
	}
	ctx, cancel := context.WithCancel(context.Background())
	k := &Keeper{config: c, duties: d, cancel: cancel, failed: make(chan error, 1)}
	k.all.Go(func() {
		if err := k.run(ctx); err != nil && ctx.Err() == nil {
			k.failed <- err
		}
	})
	return k, nil
}

// Failed has the reason once the voter cannot run. It has at most one.
func (k *Keeper) Failed() <-chan error { return k.failed }

func (c Config) dataDir() string { return filepath.Join(c.Dir, "etcd") }

func (c Config) hasData() bool { return wal.Exist(filepath.Join(c.dataDir(), "member", "wal")) }

func (c Config) isFounded() bool {
	_, err := os.Stat(filepath.Join(c.Dir, foundedFile))
	return err == nil
}

// run starts the voter and sees it through its first minutes.
func (k *Keeper) run(ctx context.Context) error {
	c := k.config
	if !c.hasData() {
		v, err := k.consult(ctx)
		if err != nil {
			return err
		}
		if v.refusal != "" {
			return fmt.Errorf("voter: %s: %s", v.refusal, cure(c))
		}
		if c.join = v.join; c.join != nil {
			c.Log.Info("the node's voter copies the store of the others", "voter", c.Name, "members", names(c.join))
		}
	}
	k.mu.Lock()
	if ctx.Err() != nil {
		k.mu.Unlock()
		return nil
	}
	voter, err := Start(c)
	k.voter = voter
	k.mu.Unlock()
	if err != nil {
		return err
	}
	return k.accompany(ctx, voter)
}

// consult asks the other voters until it is clear whether this one is new.
func (k *Keeper) consult(ctx context.Context) (verdict, error) {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	told := ""
	for {
		v := judge(k.config, k.askAll(ctx))
		if v.wait == "" {
			return v, nil
		}
		if told != v.wait {
			told = v.wait
			k.config.Log.Info("the node's voter waits before its first start", "voter", k.config.Name, "reason", v.wait)
		}
		select {
		case <-ctx.Done():
			return verdict{}, ctx.Err()
		case <-ticker.C:
		}
	}
}

func (k *Keeper) askAll(ctx context.Context) map[string]Standing {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		said = map[string]Standing{}
	)
	for name := range k.config.Voters {
		if name == k.config.Name {
			continue
		}
		all.Go(func() {
			s, err := k.duties.Ask(ctx, name)
			if err != nil {
				k.config.Log.Debug("a voter does not say how it stands", "voter", name, "err", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			said[name] = s
		})
	}
	all.Wait()
	return said
}

// accompany waits until the voter is part of a quorum, asks for its vote, and reports its end.
func (k *Keeper) accompany(ctx context.Context, v *Voter) error {
	if err := v.Ready(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("%w: where its place was given to another voter: %s", err, cure(k.config))
	}
	if err := os.WriteFile(filepath.Join(k.config.Dir, foundedFile), nil, 0o600); err != nil {
		return fmt.Errorf("voter: %w", err)
	}
	isNew := v.isLearner()
	if err := v.promote(ctx); err != nil {
		return nil //nolint:nilerr // the context has ended
	}
	if isNew {
		k.config.Log.Info("the node's voter has copied the store, and has a vote", "voter", k.config.Name)
	}
	if list := v.endpoints(); len(list) > 0 && k.duties.Serving != nil {
		k.duties.Serving(list)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-v.closed:
		return nil
	case err := <-v.etcd.Err():
		return fmt.Errorf("voter: %w", err)
	case <-v.etcd.Server.StopNotify():
		if v.isClosed() {
			return nil
		}
		return fmt.Errorf("voter: the server of voter %s has stopped: where its place was given to another voter: %s", k.config.Name, cure(k.config))
	}
}

// Standing is what this voter tells one that has no data.
func (k *Keeper) Standing(ctx context.Context) Standing {
	k.mu.Lock()
	v := k.voter
	k.mu.Unlock()
	switch {
	case v == nil && !k.config.hasData():
		return Standing{State: Blank}
	case !k.config.isFounded():
		return Standing{State: Founding}
	case v == nil:
		return Standing{State: Founded}
	}
	return Standing{State: Founded, Members: v.confirmed(ctx)}
}

// Recover makes the node's copy the whole store: the other voters have no part in it any more,
// and must have ended. What they alone had is lost.
func (k *Keeper) Recover(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, recoverTime)
	defer cancel()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.voter == nil {
		return errors.New("voter: this node's voter has nothing to recover from")
	}
	k.voter.Close()
	c := k.config
	c.isForced = true
	v, err := Start(c)
	if err != nil {
		k.voter = nil
		return err
	}
	k.voter = v
	if err := v.Ready(ctx); err != nil {
		return err
	}
	if k.duties.Serving != nil {
		k.duties.Serving(v.endpoints())
	}
	k.all.Go(func() {
		if err := k.accompany(context.WithoutCancel(ctx), v); err != nil {
			select {
			case k.failed <- err:
			default:
			}
		}
	})
	return nil
}

// Close ends the voter. It is called once.
func (k *Keeper) Close() {
	k.cancel()
	k.mu.Lock()
	if k.voter != nil {
		k.voter.Close()
	}
	k.mu.Unlock()
	k.all.Wait()
	if k.duties.Close != nil {
		k.duties.Close()
	}
}
