package logs

import (
	"io"
	"log/slog"
)

// JSON is the format of New that writes one JSON object a line.
const JSON = "json"

// New returns the logger of a node: JSON lines where format is [JSON], else
// text, at the level that level has at the time.
func New(w io.Writer, format string, level *slog.LevelVar) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if format == JSON {
		return Guard(slog.New(slog.NewJSONHandler(w, o)))
	}
	return Guard(slog.New(slog.NewTextHandler(w, o)))
}

// CountSuppressed has hit called for every line that l, which Guard has returned,
// leaves out as a repetition. It must not block.
func CountSuppressed(l *slog.Logger, hit func()) {
	if h, guarded := l.Handler().(*Handler); guarded {
		h.limiter.hit.Store(&hit)
	}
}

// Guard returns l behind a [Handler], and l itself where it is behind one
// already. Nil stands for slog.Default().
func Guard(l *slog.Logger) *slog.Logger {
	if l == nil {
		l = slog.Default()
	}
	if _, guarded := l.Handler().(*Handler); guarded {
		return l
	}
	return slog.New(NewHandler(l.Handler()))
}
