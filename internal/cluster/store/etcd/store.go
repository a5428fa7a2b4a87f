package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"holdfast/internal/cluster/store"
	"holdfast/internal/cluster/store/etcdlog"
)

const (
	// root is where the keys of all clusters begin.
	root = "/holdfast/"
	// maxEntries bounds a listing: three keys a task, and some a node.
	maxEntries = 100_000
	// maxValue bounds one value. etcd's own bound of a request is 1.5 MiB.
	maxValue = 256 << 10
)

// Config says how the store is reached.
type Config struct {
	// Cluster names the cluster: its keys are below /holdfast/<cluster>/.
	Cluster string
	// Endpoints are the URLs at which etcd serves clients. Every one is tried.
	Endpoints []string
	// TLS is nil for endpoints without TLS.
	TLS *tls.Config
	Log *slog.Logger
}

// Store is a cluster's part of an etcd. It is safe for concurrent use.
type Store struct {
	client *clientv3.Client
	prefix string
}

var _ store.Store = (*Store)(nil)

// Open makes a store. It dials in the background: an etcd that is away is no error.
func Open(c Config) (*Store, error) {
	if c.Cluster == "" || strings.ContainsAny(c.Cluster, "/\x00") {
		return nil, fmt.Errorf("the cluster's name %q is empty or has a slash", c.Cluster)
	}
	if len(c.Endpoints) == 0 {
		return nil, errors.New("the store has no endpoints")
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: c.Endpoints, TLS: c.TLS, Logger: etcdlog.New(c.Log),
		// A transaction that fails is repeated by its caller, who knows until when.
		MaxUnaryRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return &Store{client: client, prefix: root + c.Cluster + "/"}, nil
}

// Close ends the connections, and every watch.
func (s *Store) Close() error { return s.client.Close() }

// Commit carries a transaction out.
func (s *Store) Commit(ctx context.Context, t store.Txn) (store.Result, error) {
	if len(t.If) > store.MaxOps || len(t.Then) > store.MaxOps || len(t.Read) > store.MaxOps {
		return store.Result{}, fmt.Errorf("store: a transaction has %d conditions and %d operations, at most %d are allowed", len(t.If), len(t.Then), store.MaxOps)
	}
	var conditions []clientv3.Cmp
	for _, c := range t.If {
		what, how := clientv3.CreateRevision(s.prefix+c.Key), "="
		switch c.Test {
		case store.CreatedAt:
		case store.NotCreatedAt:
			how = "!="
		case store.ChangedAt:
			what = clientv3.ModRevision(s.prefix + c.Key)
		default:
			return store.Result{}, fmt.Errorf("store: unknown test %d", c.Test)
		}
		conditions = append(conditions, clientv3.Compare(what, how, c.Revision))
	}
	var then, read []clientv3.Op
	for _, op := range t.Then {
		switch {
		case op.IsDelete:
			then = append(then, clientv3.OpDelete(s.prefix+op.Key))
		case len(op.Value) > maxValue:
			return store.Result{}, fmt.Errorf("store: the value of %s has %d bytes, at most %d are allowed", op.Key, len(op.Value), maxValue)
		default:
			then = append(then, clientv3.OpPut(s.prefix+op.Key, string(op.Value)))
		}
	}
	for _, key := range t.Read {
		read = append(read, clientv3.OpGet(s.prefix+key))
	}
	answer, err := s.client.Txn(ctx).If(conditions...).Then(then...).Else(read...).Commit()
	if err != nil {
		return store.Result{}, fmt.Errorf("store: %w", err)
	}
	r := store.Result{IsDone: answer.Succeeded, Revision: answer.Header.Revision}
	if answer.Succeeded {
		return r, nil
	}
	for _, one := range answer.Responses {
		for _, kv := range one.GetResponseRange().GetKvs() {
			if e, ok := s.entry(kv.Key, kv.Value, kv.CreateRevision, kv.ModRevision); ok {
				r.Found = append(r.Found, e)
			}
		}
	}
	return r, nil
}

// List returns all keys of the cluster as they are now: no follower answers by itself.
func (s *Store) List(ctx context.Context) (store.Listing, error) {
	answer, err := s.client.Get(ctx, s.prefix, clientv3.WithPrefix(), clientv3.WithLimit(maxEntries+1))
	if err != nil {
		return store.Listing{}, fmt.Errorf("store: %w", err)
	}
	if len(answer.Kvs) > maxEntries {
		return store.Listing{}, fmt.Errorf("store: the cluster has more than %d keys", maxEntries)
	}
	l := store.Listing{Revision: answer.Header.Revision}
	for _, kv := range answer.Kvs {
		if e, ok := s.entry(kv.Key, kv.Value, kv.CreateRevision, kv.ModRevision); ok {
			l.Entries = append(l.Entries, e)
		}
	}
	return l, nil
}

// Watch reports every change after a revision, until the context ends or the watch breaks.
func (s *Store) Watch(ctx context.Context, after int64, report func([]store.Event)) error {
	// The watch of a server without a leader says nothing, and ends instead.
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for answer := range s.client.Watch(ctx, s.prefix, clientv3.WithPrefix(), clientv3.WithRev(after+1)) {
		if err := answer.Err(); err != nil {
			return fmt.Errorf("store: watch: %w", err)
		}
		var events []store.Event
		for _, e := range answer.Events {
			entry, ok := s.entry(e.Kv.Key, e.Kv.Value, e.Kv.CreateRevision, e.Kv.ModRevision)
			if ok {
				events = append(events, store.Event{Entry: entry, IsDelete: e.Type == clientv3.EventTypeDelete})
			}
		}
		if len(events) > 0 {
			report(events)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.New("store: the watch has ended")
}

// entry cuts the prefix off. A value beyond the bound is passed on empty, which no reader
// takes for a record.
func (s *Store) entry(key, value []byte, created, changed int64) (store.Entry, bool) {
	k, ok := strings.CutPrefix(string(key), s.prefix)
	if !ok || k == "" {
		return store.Entry{}, false
	}
	if len(value) > maxValue {
		value = nil
	}
	return store.Entry{Key: k, Value: value, Created: created, Changed: changed}, true
}
