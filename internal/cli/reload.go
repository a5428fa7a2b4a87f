package cli

import (
	"holdfast/internal/config"
)

// reload reads the configuration again and applies what a running node can change (X22).
// Where something is wrong with it, the node keeps its settings.
func (s *server) reload() {
	s.notify("RELOADING=1\nMONOTONIC_USEC=" + monotonic())
	defer s.notify("READY=1")
	next, err := config.Load(s.settings.sources(s.run))
	if err != nil {
		s.log.Error("configuration not reloaded", "state", nodeServing, "err", err)
		return
	}
	now, applied, refused := s.cfg.Reload(next)
	if now.Limits != s.cfg.Limits && s.node.SetLimits != nil {
		if err := s.node.SetLimits(now.Limits.Bounds()); err != nil {
			s.log.Error("configuration not reloaded", "state", nodeServing, "err", err)
			return
		}
	}
	s.level.Set(now.Logging.Level)
	s.cfg = now
	for _, w := range next.Warnings {
		s.log.Warn("configuration: "+w, "state", nodeServing)
	}
	for _, c := range resolved(s.cfg, refused) {
		s.log.Warn("a changed setting waits for the next start", "state", nodeServing, "setting", c.Path)
	}
	attrs := []any{"state", nodeServing, "changes", len(applied)}
	for _, c := range applied {
		attrs = append(attrs, c.Path, c.From+" → "+c.To)
	}
	s.log.Info("configuration reloaded", attrs...)
}

// resolved leaves out settings that have not been changed: serve itself sets a directory
// and a file where none is named.
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
