package api

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"holdfast/internal/gate"
	"holdfast/internal/redact"
)

// maxHeader bounds a request's header, in bytes. Nothing we take is long; the
// room is for what proxies add.
const maxHeader = 32 << 10

// NewServer returns a server for handler with every limit set that does not
// belong to a single route. A [Handler]'s event streams end when the server
// shuts down. Use it with [gate.Limit] around its listener.
func NewServer(handler http.Handler, logger *slog.Logger) *http.Server {
	s := &http.Server{
		Handler: handler,
		// No ReadTimeout and no WriteTimeout: they would cut a stream and a
		// slow navigation. Bodies and writes have deadlines of their own.
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(serverLog{logger}, "", 0),
	}
	h, isHandler := handler.(*Handler)
	if isHandler {
		s.RegisterOnShutdown(h.CloseStreams)
	}
	gate.Track(s, isHandler && h.cfg.Gate.HasToken())
	return s
}

// serverLog takes net/http's own lines, which quote what strangers send.
type serverLog struct{ *slog.Logger }

func (l serverLog) Write(b []byte) (int, error) {
	l.LogAttrs(context.Background(), slog.LevelDebug, "http server", slog.String("said", redact.Text(strings.TrimSpace(string(b)))))
	return len(b), nil
}

// Shutdown ends the server: no new request, event streams closed, and what
// runs may finish until ctx ends; then connections are cut.
func Shutdown(ctx context.Context, s *http.Server) error {
	err := s.Shutdown(ctx)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}
