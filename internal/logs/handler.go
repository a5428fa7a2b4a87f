package logs

import (
	"context"
	"hash/maphash"
	"log/slog"
	"time"
)

// The attributes that the handler itself knows.
const (
	keyState      = "state"      // marks the line of a task's state change
	keySuppressed = "suppressed" // how many lines like this one were left out before it
)

// every is how often a repeated warning is logged again. maxKinds is the number of warnings
// for which the handler remembers when it was logged last.
const (
	every    = time.Minute
	maxKinds = 4096
)

// aspects tell warnings of one text apart: the same about another task is news.
var aspects = []string{"task", "actor", "parent"}

// Handler is a [slog.Handler] before another one. It masks and cuts what it is
// given, and leaves out warnings and errors that repeat themselves; the line of
// a task's state change is never left out. Safe for concurrent use.
type Handler struct {
	next     slog.Handler
	limiter  *limiter // shared by all that come of one NewHandler
	kind     uint64   // hash of the aspects that With has given
	isOpen   bool     // inside a group: attributes are no aspects
	isMarked bool     // With has given a state
}

// NewHandler returns a handler that writes to next.
func NewHandler(next slog.Handler) *Handler {
	return &Handler{next: next, limiter: newLimiter(every, maxKinds)}
}

// Enabled implements slog.Handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	attrs := make([]slog.Attr, 0, r.NumAttrs()+1)
	kind, marked := h.kind, h.isMarked
	r.Attrs(func(a slog.Attr) bool {
		a = clean(a)
		if !h.isOpen {
			kind, marked = kind^aspect(a), marked || a.Key == keyState
		}
		attrs = append(attrs, a)
		return true
	})
	if r.Level >= slog.LevelWarn && !marked {
		ok, suppressed := h.limiter.allow(r.Time, kind^hash(r.Message))
		if !ok {
			h.limiter.count()
			return nil
		}
		if suppressed > 0 {
			attrs = append(attrs, slog.Int(keySuppressed, suppressed))
		}
	}
	out := slog.NewRecord(r.Time, r.Level, text(r.Message, maxText), r.PC)
	out.AddAttrs(attrs...)
	return h.next.Handle(ctx, out)
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	cleaned := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		cleaned[i] = clean(a)
		if !h.isOpen {
			with.kind ^= aspect(cleaned[i])
			with.isMarked = with.isMarked || a.Key == keyState
		}
	}
	with.next = h.next.WithAttrs(cleaned)
	return &with
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.next, with.isOpen = h.next.WithGroup(name), true
	return &with
}

var seed = maphash.MakeSeed()

func hash(s string) uint64 { return maphash.String(seed, s) }

// aspect is 0 for an attribute that is none.
func aspect(a slog.Attr) uint64 {
	for _, name := range aspects {
		if a.Key == name {
			return hash(name + "\x00" + a.Value.String())
		}
	}
	return 0
}
