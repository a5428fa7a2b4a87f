package node

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"holdfast/internal/backend"
	"holdfast/internal/browser"
	"holdfast/internal/guard"
	"holdfast/internal/pressure"
	"holdfast/messages"
	"holdfast/metrics"
	"holdfast/transport"
)

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
	// BrowserTransport is how launched browsers are driven: BrowserPipe, which "" means
	// too, or BrowserPort.
	BrowserTransport browser.Transport
	// BrowserIsolation is how launched browsers are kept from the node's files:
	// BrowserIsolated, which "" means too, BrowserIsolationRequired or BrowserNotIsolated.
	BrowserIsolation browser.Isolation
	// BrowserSandbox is whether a launched browser may run without Chromium's own sandbox:
	// BrowserSandboxAuto, which "" means too, or BrowserSandboxRequired.
	BrowserSandbox browser.Sandbox
	// SecretFiles are files outside StateDir that no launched browser may read.
	SecretFiles []string
	// Apps are the applications that callers without a scope may have launched: absolute
	// paths, and directories with a separator at the end. Nil is none.
	Apps []string
	// AppsDenied are those that may not be, though Apps has them.
	AppsDenied []string
	// BrowserEnv names variables of the environment that launched browsers get besides
	// the usual ones; NAME* stands for all that begin so.
	BrowserEnv []string
	// CDPURLOverride, where set, is where every task attaches, whatever its
	// spec says (requirement A7).
	CDPURLOverride messages.CDPURL
	// IsAudited has the answers of rules and policies logged as information, and not only at
	// debug level.
	IsAudited bool
	// DialogRules hold for the dialogs of every task, before the task's own rules.
	DialogRules messages.DialogRules
	// Limits bound what runs; [Node.SetLimits] changes them.
	Limits Limits
	// Measure reads how much of the machine is in use; nil reads the kernel's
	// files. Tests say with it how much there is.
	Measure func() pressure.Sample
	// Log gets one line per state change of a task; nil is slog.Default(). What is
	// written to it is masked, cut and kept from repeating itself, whatever its
	// handler.
	Log *slog.Logger
	// TracerProvider, where not nil, gets a span for each call and each raw CDP command. It
	// is only the interface: a program that wants traces brings an SDK.
	TracerProvider trace.TracerProvider
	// Registerer, where not nil, has the node's metrics until the node stops.
	Registerer prometheus.Registerer
	// HTTPClient makes the connections to browsers; nil is one that obeys no
	// proxy of the environment. Tests dial in memory with it.
	HTTPClient *http.Client
	// KeepAlive is how long a browser may be silent before it is asked for a
	// sign of life; 0 is 5 s, less than 0 never.
	KeepAlive time.Duration
	// Dials bounds the links that are being dialled at once; what is zero of it
	// is as in [transport.DefaultRation].
	Dials transport.RationLimits
	// WarmBrowsers is how many browsers are kept ready for tasks to come.
	WarmBrowsers int
	// ShareLinks is whether tasks that attach to the same browser share their connections
	// to it: ShareLinksAuto, which "" means too, or ShareLinksOff.
	ShareLinks ShareLinks
	// Cluster says how the node stands in its cluster, for metrics, and false without one. It may be nil.
	Cluster func() (metrics.Cluster, bool)
	// MayDecide, where not nil, returns for a task what its links ask last before they write what
	// decides something for its pages: an error withholds that. What it returns must not wait.
	MayDecide func(messages.TaskID) func() error
	// Specified, where not nil, hears what each task is to be started with elsewhere, should the
	// node end. It must not wait.
	Specified func(messages.TaskID, messages.TaskSpec)
	// Egress bounds where scoped callers and their tasks' pages may go.
	Egress Egress
	// Backend, where not nil, takes the backend that a task's spec stands for and returns
	// the one that the task gets. It must not wait.
	Backend func(messages.TaskID, backend.Backend) backend.Backend
	// OnTaskStart, where not nil, is called before each task starts. It must not wait.
	OnTaskStart func()
	// AllowChaos lets [Node.Kill] break links.
	AllowChaos bool
	// Intercept is called before every step of every actor and may panic as if
	// the actor had. It is for fault injection in tests only.
	Intercept func(guard.Moment)
	// Seed makes the jitter of reconnects repeatable; 0 takes a random one.
	Seed uint64
}

// How launched browsers are driven.
const (
	// BrowserPipe is --remote-debugging-pipe: no other process can reach the browser.
	BrowserPipe = browser.TransportPipe
	// BrowserPort is --remote-debugging-port: every user of the machine can drive the
	// browser, and so can a page that finds the port.
	BrowserPort = browser.TransportPort
)

// How launched browsers are kept from the node's files.
const (
	// BrowserIsolated does what the system allows, and logs what it does not.
	BrowserIsolated = browser.IsolationAuto
	// BrowserIsolationRequired launches no browser that could read the node's files.
	BrowserIsolationRequired = browser.IsolationRequire
	// BrowserNotIsolated leaves browsers with the node's user and files.
	BrowserNotIsolated = browser.IsolationOff
)

// Whether launched browsers may run without Chromium's own sandbox.
const (
	// BrowserSandboxAuto warns at each launch without it.
	BrowserSandboxAuto = browser.SandboxAuto
	// BrowserSandboxRequired launches no browser without it.
	BrowserSandboxRequired = browser.SandboxRequire
)

// ShareLinks is whether tasks that attach to the same browser share their connections to
// it.
type ShareLinks = transport.Sharing

// The values of [ShareLinks].
const (
	// ShareLinksAuto has them share where it is proved that each connection to the address
	// leads to the same browser.
	ShareLinksAuto = transport.SharingAuto
	// ShareLinksOff gives each task its own.
	ShareLinksOff = transport.SharingOff
)

const maxWarmBrowsers = 1000

// Validate checks the bounds.
func (c Config) Validate() error {
	if err := c.DialogRules.Validate(messages.NodeRules); err != nil {
		return fmt.Errorf("holdfast: %w", err)
	}
	if c.WarmBrowsers < 0 || c.WarmBrowsers > maxWarmBrowsers {
		return fmt.Errorf("holdfast: warm browsers must be 0 to %d", maxWarmBrowsers)
	}
	if c.Dials.Total < 0 || c.Dials.Host < 0 || c.Dials.Endpoint < 0 {
		return errors.New("holdfast: a limit is negative")
	}
	if err := errors.Join(c.BrowserTransport.Validate(), c.BrowserIsolation.Validate(), c.BrowserSandbox.Validate(), c.ShareLinks.Validate()); err != nil {
		return fmt.Errorf("holdfast: %w", err)
	}
	if err := c.Limits.Validate(); err != nil {
		return fmt.Errorf("holdfast: %w", err)
	}
	if _, err := c.Egress.policy(); err != nil {
		return fmt.Errorf("holdfast: egress: %w", err)
	}
	return nil
}
