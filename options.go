package holdfast

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"holdfast/internal/browser"
	"holdfast/internal/node"
	"holdfast/messages"
	"holdfast/transport"
)

// Option changes the [Config] of a node before it starts.
type Option func(*Config)

// Config is what a node is made of. The zero value is usable.
type Config struct {
	// StateDir holds leases and profiles of launched browsers; "" is
	// $HOLDFAST_STATE_DIR, else holdfast under $XDG_STATE_HOME, else under
	// ~/.local/state. Several nodes of a machine may share it.
	StateDir string
	// ChromePath is the browser to launch; "" searches for one.
	ChromePath string
	// ChromeArgs are added to the arguments of every launched browser.
	ChromeArgs []string
	// BrowserTransport is how launched browsers are driven; "" is BrowserPipe.
	BrowserTransport BrowserTransport
	// BrowserIsolation is how launched browsers are kept from the node's files; "" is
	// BrowserIsolated.
	BrowserIsolation BrowserIsolation
	// BrowserSandbox says whether a launched browser may run without Chromium's own
	// sandbox; "" is BrowserSandboxAuto.
	BrowserSandbox BrowserSandbox
	// WarmBrowsers is how many browsers run already, for the next tasks that launch one as it
	// is; up to 1,000. They are beyond Limits.
	WarmBrowsers int
	// SecretFiles are files outside StateDir that no launched browser may read.
	SecretFiles []string
	// Apps are the applications made from Chromium that callers without a scope may have
	// launched in place of a browser: absolute paths, and directories with a separator at
	// the end. Nil is none.
	Apps []string
	// AppsDenied are those that may not be, though Apps has them.
	AppsDenied []string
	// BrowserEnv names variables of the environment that launched browsers get besides
	// the usual ones; NAME* stands for all that begin so.
	BrowserEnv []string
	// CDPURLOverride, where set, is where every task attaches, whatever its spec says
	// (requirement A7).
	CDPURLOverride messages.CDPURL
	// DialogRules hold for the dialogs of every task, before the task's own rules.
	DialogRules messages.DialogRules
	// Limits bound what runs; [Node.SetLimits] changes them.
	Limits messages.Limits
	// Log gets one line per state change of a task; nil is slog.Default(). Its lines are
	// masked, cut, and kept from repeating themselves.
	Log *slog.Logger
	// TracerProvider, where not nil, gets a span for each call and each raw CDP command.
	TracerProvider trace.TracerProvider
	// Registerer, where not nil, has the node's metrics until the node stops. Of two
	// nodes on one registerer each needs labels of its own
	// ([prometheus.WrapRegistererWith]).
	Registerer prometheus.Registerer
	// HTTPClient makes the connections to browsers; nil is one that obeys no proxy of
	// the environment.
	HTTPClient *http.Client
	// KeepAlive is how long a browser may be silent before it is asked for a sign of
	// life; 0 is 5 s, less than 0 never.
	KeepAlive time.Duration
	// Dials bounds the links that are being dialled at once; what is zero of it is as in
	// [transport.DefaultRation].
	Dials transport.RationLimits
	// ShareLinks is whether tasks that attach to the same browser share their connections
	// to it; "" is ShareLinksAuto.
	ShareLinks ShareLinks
	// Egress bounds where callers with [messages.WithCaller] and their tasks' pages may go.
	Egress Egress
}

// BrowserTransport is how launched browsers are driven.
type BrowserTransport string

// How launched browsers are driven.
const (
	// BrowserPipe is --remote-debugging-pipe: no other process can reach the browser.
	BrowserPipe BrowserTransport = "pipe"
	// BrowserPort is --remote-debugging-port: every user of the machine can drive the
	// browser, and so can a page that finds the port.
	BrowserPort BrowserTransport = "port"
)

// ShareLinks is whether tasks that attach to the same browser share their connections to it.
type ShareLinks string

// The values of [ShareLinks].
const (
	// ShareLinksAuto shares where it is proved that each connection to the address leads
	// to the same browser.
	ShareLinksAuto ShareLinks = "auto"
	// ShareLinksOff gives each task connections of its own.
	ShareLinksOff ShareLinks = "off"
)

// BrowserIsolation is how launched browsers are kept from the node's files.
type BrowserIsolation string

// How launched browsers are kept from the node's files.
const (
	// BrowserIsolated does what the system allows, and logs what it does not.
	BrowserIsolated BrowserIsolation = "auto"
	// BrowserIsolationRequired launches no browser that could read the node's files.
	BrowserIsolationRequired BrowserIsolation = "require"
	// BrowserNotIsolated leaves browsers with the node's user and files.
	BrowserNotIsolated BrowserIsolation = "off"
)

// BrowserSandbox says whether launched browsers may run without Chromium's own sandbox.
type BrowserSandbox string

// Whether launched browsers may run without Chromium's own sandbox.
const (
	// BrowserSandboxAuto warns at each launch without it.
	BrowserSandboxAuto BrowserSandbox = "auto"
	// BrowserSandboxRequired launches no browser without it.
	BrowserSandboxRequired BrowserSandbox = "require"
)

// Egress says where scoped callers ([messages.WithCaller]) and their tasks' pages may go
// (requirement X15). The zero value allows public addresses by http and https. Callers
// without a scope are not bounded by it.
type Egress struct {
	// Schemes are those of addresses that may be opened; nil is
	// http, https, about (about:blank alone), data and blob.
	Schemes []string
	// Allow are host names, "*.NAME" for all below it, IP addresses and CIDR prefixes
	// that may be reached though they are not public.
	Allow []string
	// Deny are hosts, written the same way, that may not be reached.
	Deny []string
	// CDPHosts are the hosts that a scoped caller's cdp_url may name, written the same
	// way; a name may have a port. Nil is none.
	CDPHosts []string
	// Proxy says which launched browsers get the proxy that enforces this; "" is
	// EgressProxyScoped.
	Proxy EgressProxy
}

// EgressProxy says which launched browsers get the proxy that enforces the egress policy.
type EgressProxy string

// Which launched browsers get the proxy.
const (
	// EgressProxyScoped is the browsers that a scoped caller has launched.
	EgressProxyScoped EgressProxy = "scoped"
	// EgressProxyAll is every launched browser. The proxy lets everything through until
	// the first scoped caller drives the task.
	EgressProxyAll EgressProxy = "all"
)

// WithConfig replaces the whole [Config].
func WithConfig(c Config) Option { return func(old *Config) { *old = c } }

// WithStateDir says where leases and profiles of launched browsers are kept.
func WithStateDir(dir string) Option { return func(c *Config) { c.StateDir = dir } }

// WithChrome says which browser is launched, and adds arguments to its own.
func WithChrome(path string, args ...string) Option {
	return func(c *Config) { c.ChromePath, c.ChromeArgs = path, args }
}

// WithLogger says where the node's log lines go.
func WithLogger(l *slog.Logger) Option { return func(c *Config) { c.Log = l } }

// WithRegisterer puts the node's metrics among those of the program, until the node stops.
func WithRegisterer(r prometheus.Registerer) Option { return func(c *Config) { c.Registerer = r } }

// WithTracerProvider has a span made for each call and each raw CDP command.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *Config) { c.TracerProvider = p }
}

// WithLimits bounds what runs on the node.
func WithLimits(l messages.Limits) Option { return func(c *Config) { c.Limits = l } }

func (c Config) validate() error {
	switch c.Egress.Proxy {
	case "", EgressProxyScoped, EgressProxyAll:
		return nil
	}
	return fmt.Errorf("holdfast: the egress proxy is %q; it has to be scoped or all", string(c.Egress.Proxy))
}

func (c Config) node() node.Config {
	return node.Config{
		StateDir: c.StateDir, ChromePath: c.ChromePath, ChromeArgs: c.ChromeArgs,
		BrowserTransport: browser.Transport(c.BrowserTransport), BrowserIsolation: browser.Isolation(c.BrowserIsolation),
		BrowserSandbox: browser.Sandbox(c.BrowserSandbox), WarmBrowsers: c.WarmBrowsers, SecretFiles: c.SecretFiles, BrowserEnv: c.BrowserEnv, Apps: c.Apps, AppsDenied: c.AppsDenied, CDPURLOverride: c.CDPURLOverride, Limits: c.Limits,
		DialogRules: c.DialogRules,
		Log:         c.Log, TracerProvider: c.TracerProvider, Registerer: c.Registerer, HTTPClient: c.HTTPClient,
		KeepAlive: c.KeepAlive, Dials: c.Dials, ShareLinks: node.ShareLinks(c.ShareLinks),
		Egress: node.Egress{
			Schemes: c.Egress.Schemes, Allow: c.Egress.Allow, Deny: c.Egress.Deny, CDPHosts: c.Egress.CDPHosts,
			MustProxyAll: c.Egress.Proxy == EgressProxyAll,
		},
	}
}
