package cli

import (
	"fmt"
	"log/slog"

	"holdfast/internal/config"
)

// reload reads the configuration again and applies what a running node can
// take (row X22). Whatever is wrong with it, the node goes on as it was.
func (s *server) reload() {
	s.notify("RELOADING=1\nMONOTONIC_USEC=" + monotonic())
	defer s.notify("READY=1")
	next, err := config.Load(s.settings.sources(s.run))
	if err != nil {
		s.log.Error("configuration not reloaded", "err", err)
		return
	}
	for _, w := range next.Warnings {
		s.log.Warn("configuration: " + w)
	}
	now, applied, refused := s.cfg.Reload(next)
	for _, c := range resolved(s.cfg, refused) {
		s.log.Warn("a changed setting waits for the next start", "key", c.Path)
	}
	if now.Limits != s.cfg.Limits && s.node.SetLimits != nil {
		if err := s.node.SetLimits(now.Limits.Bounds()); err != nil {
			s.log.Error("configuration not reloaded", "err", err)
			return
		}
	}
	s.level.Set(now.Logging.Level)
	s.cfg = now
	attrs := make([]any, 0, len(applied))
	for _, c := range applied {
		attrs = append(attrs, slog.String(c.Path, fmt.Sprintf("%s → %s", c.From, c.To)))
	}
	s.log.Info("configuration reloaded", append([]any{"changes", len(applied)}, attrs...)...)
}

// resolved leaves out settings that nobody has changed: serve itself puts in a
// directory and a file where none is named.
func resolved(was *config.Effective, refused []config.Change) []config.Change {
	var out []config.Change
	for _, c := range refused {
		if c.To == "" && was.Origin(c.Path).Kind == config.FromDefault {
			continue
		}
		out = append(out, c)
	}
	return out
}
