package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"holdfast/client"
	"holdfast/internal/api"
	"holdfast/internal/config"
	"holdfast/internal/gate"
	"holdfast/internal/mcp"
	"holdfast/messages"
)

// front is what a node listens on and the servers behind it.
type front struct {
	log                  *slog.Logger
	main, metrics, admin *drainingListener // the last two may be nil
	inside               *mcp.Inside       // for requests of this process
	observer             api.Observer      // may be nil
	servers              []*http.Server
	ended                chan error // one element per server that ended; room for all
}

// maxVisitors bounds the connections of the metrics and the admin listener.
const maxVisitors = 64

// listen opens the listeners, or none.
func listen(cfg *config.Effective, log *slog.Logger) (*front, error) {
	f := &front{log: log, ended: make(chan error, 5), inside: mcp.NewInside()}
	for _, l := range []struct {
		path string
		addr config.Address
		to   **drainingListener
	}{{"listen", cfg.Listen, &f.main}, {"metrics_listen", cfg.MetricsListen, &f.metrics}, {"admin_listen", cfg.AdminListen, &f.admin}} {
		if l.addr == "" || l.to != &f.main && l.addr == cfg.Listen && l.path != "admin_listen" {
			continue
		}
		opened, err := listenDraining(l.addr)
		if err != nil {
			f.release()
			if errors.Is(err, errnoAddressInUse) {
				return nil, addressInUse(l.path, fmt.Sprint(cfg.Origin(l.path)), l.addr)
			}
			return nil, fmt.Errorf("%s (%s): %w", l.path, cfg.Origin(l.path), err)
		}
		*l.to = opened
	}
	return f, nil
}

// probeTime is how long a process that holds our address may take to say whether it is
// a node.
const probeTime = time.Second

// addressInUse says who holds the address, where a node of ours does.
func addressInUse(setting, origin string, addr config.Address) error {
	e := messages.Errorf(codeAddressInUse, "%s (%s): another process listens on %s", setting, origin, addr)
	if node, err := client.New(urlOf(addr), client.Options{}); err == nil {
		defer node.Close()
		ctx, cancel := context.WithTimeout(context.Background(), probeTime)
		defer cancel()
		if node.Live(ctx) == nil {
			e.Message = fmt.Sprintf("%s (%s): a Holdfast node listens on %s already", setting, origin, addr)
		}
	}
	return e.WithHint("use that node, or name another address with --" + strings.ReplaceAll(setting, "_", "-"))
}

// serve begins to answer on every listener.
func (f *front) serve(main *api.Handler, metrics http.Handler, allowHosts []string) {
	f.start(main, f.main, api.MaxConns)
	f.start(f.inside.Handler(main), f.inside, api.MaxConns)
	if f.metrics != nil {
		if metrics == nil {
			metrics = http.NotFoundHandler()
		}
		f.start(api.MetricsHandler(metrics, allowHosts), f.metrics, maxVisitors)
	}
	if f.admin != nil {
		f.start(api.DebugHandler(), f.admin, maxVisitors)
	}
}

func (f *front) start(h http.Handler, l net.Listener, conns int) {
	s := api.NewServer(h, f.log)
	f.servers = append(f.servers, s)
	go func() { f.ended <- s.Serve(gate.Limit(l, conns, f.observer)) }()
}

// stopAccepting ends the acceptance of callers; connections that exist stay. Metrics and
// profiles stay available: they show how the drain proceeds.
func (f *front) stopAccepting() { _ = f.main.shut() }

// close ends the servers. Answers that are being written may finish until ctx
// ends, then they are cut. An end that was cut short may still be in here while
// release runs.
func (f *front) close(ctx context.Context) {
	for _, s := range f.servers {
		if api.Shutdown(ctx, s) != nil {
			f.log.Warn("answers that their readers did not take in time were cut")
		}
	}
	for range f.servers {
		<-f.ended
	}
}

// release closes the listeners, and cuts what is left on them.
func (f *front) release() {
	for _, s := range f.servers {
		_ = s.Close()
	}
	for _, l := range []*drainingListener{f.main, f.metrics, f.admin} {
		if l != nil {
			if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				f.log.Warn("a listener could not be closed", "err", err)
			}
		}
	}
}
