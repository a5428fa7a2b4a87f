package config

import (
	"log/slog"
	"time"

	"holdfast/messages"
)

// Config is what can be set. The tags of a field:
//
//	key      its name in the file, within the key of its group
//	flag     the flag of serve; HOLDFAST_ and the same in capitals is its variable
//	default  as it would be written in the file
//	min, max bounds of a number or a duration, included
//	enum     what a text may be, separated by commas
//	reload   "yes" where SIGHUP applies a change, else a restart does
//	secret   "yes" where it is never shown, and not taken from a file that
//	         others can read
//	empty    what it means that nothing is set, where that is not plain
//	help     one sentence or two
type Config struct {
	Listen         Address         `key:"listen" flag:"listen" default:"127.0.0.1:7070" help:"Address of the HTTP interface. One that other machines reach needs allow_hosts. unix:PATH is a socket that the node's user alone may use."`
	MetricsListen  Address         `key:"metrics_listen" flag:"metrics-listen" empty:"the address of listen" help:"Address of /metrics, which wants no token."`
	AdminListen    Address         `key:"admin_listen" flag:"admin-listen" empty:"none" help:"Address of /debug/pprof, which wants no token. It has to be a loopback one."`
	AllowHosts     []string        `key:"allow_hosts" flag:"allow-host" empty:"loopback names alone" help:"Names that requests may be addressed to besides loopback ones."`
	StateDir       string          `key:"state_dir" flag:"state-dir" empty:"holdfast in $XDG_STATE_HOME, or in ~/.local/state; on macOS in ~/Library/Application Support, on Windows in %LocalAppData%" help:"Directory of the token, the endpoint file, and the profiles of launched browsers. Commands on the same machine find the node by HOLDFAST_STATE_DIR."`
	TokenFile      string          `key:"token_file" flag:"token-file" empty:"token in state_dir" help:"File of the admin token. It is made where there is none."`
	StateKeyFile   string          `key:"state_key_file" flag:"state-key-file" empty:"state.key in state_dir" help:"File of the 32 bytes that exported states (browser_state) are encrypted with. It is made where there is none."`
	CDPURLOverride messages.CDPURL `key:"cdp_url_override" flag:"cdp-url-override" secret:"yes" empty:"as each task says" help:"The browser that every task attaches to, whatever its spec says. It is a credential: set it by its variable, or in a file that is yours alone."`
	UI             bool            `key:"ui" flag:"ui" default:"true" help:"Serve the live page at /ui/."`
	NodeName       string          `key:"node_name" flag:"node-name" empty:"the name of the host" help:"The node's name in its cluster. No two nodes have the same."`
	AllowChaos     bool            `key:"allow_chaos" flag:"allow-chaos" default:"false" help:"Let holdfast chaos break tasks' connections, to see that nothing is lost by it."`
	Tracing        string          `key:"tracing" flag:"tracing" default:"off" enum:"off,otlp" help:"Sends OpenTelemetry traces by OTLP over HTTP; where to and how many is said by the standard variables: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER and the others."`

	DialogRules messages.DialogRules `key:"dialog_rules" flag:"dialog-rules" empty:"none" help:"What happens to single dialogs of every task, before the task's own rules: a JSON array, as dialog_rules of a task's spec."`

	Limits   Limits   `key:"limits" help:"What a node takes on. SIGHUP applies changes."`
	Drain    Drain    `key:"drain" help:"How it ends."`
	Browser  Browser  `key:"browser" help:"The browsers it launches."`
	Browsers Browsers `key:"browsers" help:"The browsers that it launches before there is a task for them."`
	Egress   Egress   `key:"egress" help:"Where the holders of scoped tokens, and the pages of their tasks, may go; docs/egress.md has the rules. The admin token is not held to it."`
	Cluster  Cluster  `key:"cluster" help:"The nodes that this one works with; docs/cluster.md has the rest."`
	Logging  Logging  `key:"logging" help:"The log, on standard error."`
}

// Limits are the bounds that SIGHUP changes in a running node.
type Limits struct {
	MaxTasks       int           `key:"max_tasks" flag:"max-tasks" default:"5000" min:"1" max:"1000000" reload:"yes" help:"Tasks that may run at a time."`
	MaxTenantTasks int           `key:"max_tenant_tasks" flag:"max-tenant-tasks" default:"0" min:"-1" max:"1000000" reload:"yes" help:"Tasks of one tenant that may run or wait for a place; a task's tenant is what stands before the first colon of its id. 0 is three quarters of max_tasks, -1 no such bound."`
	MaxBrowsers    int           `key:"max_browsers" flag:"max-browsers" default:"0" min:"-1" max:"1000000" reload:"yes" help:"Tasks among them whose browser the node has launched. 0 is one for every 512 MiB of memory, -1 as many as there are tasks."`
	QueueLength    int           `key:"queue_length" flag:"queue-length" default:"100" min:"0" max:"10000" reload:"yes" help:"Starts that may wait for a place; with 0 a node that is full refuses at once."`
	QueueTimeout   time.Duration `key:"queue_timeout" flag:"queue-timeout" default:"30s" min:"1ms" max:"5m" reload:"yes" help:"How long a start waits for a place whose caller does not say, and the longest that one who does may."`
	IdleTimeout    time.Duration `key:"idle_timeout" flag:"idle-timeout" default:"1h" min:"1s" reload:"yes" help:"A task without a request for so long is stopped, unless its spec says otherwise."`
	MaxLife        time.Duration `key:"max_life" flag:"max-life" default:"24h" min:"1s" reload:"yes" help:"A task that is so old is stopped, unless its spec says otherwise."`
	GiveUpAfter    time.Duration `key:"give_up_after" flag:"give-up-after" default:"2m" min:"5s" max:"24h" reload:"yes" help:"How long a task tries to bring back a connection that was lost, unless its spec says otherwise. It is lost only after so long and after five failed dials. A task keeps the value of its start."`
	MemoryHigh     float64       `key:"memory_high" flag:"memory-high" default:"0.9" min:"0" max:"1" reload:"yes" help:"The share of memory in use, of 1, from which on no task is started. With 0 memory is not looked at."`
	MemoryLow      float64       `key:"memory_low" flag:"memory-low" default:"0" min:"0" max:"1" reload:"yes" help:"The share it has to fall to before tasks are started again. 0 is a little below memory_high."`
	CPUHigh        float64       `key:"cpu_high" flag:"cpu-high" default:"0" min:"0" max:"1" reload:"yes" help:"The same for the share of time that some thread waits for a processor, over ten seconds. With 0 it is not looked at."`
	CPULow         float64       `key:"cpu_low" flag:"cpu-low" default:"0" min:"0" max:"1" reload:"yes" help:"As memory_low. 0 is a little below cpu_high."`
}

// Bounds are the limits as a node takes them, where 0 stands for the default
// and what is off is below it.
func (l Limits) Bounds() messages.Limits {
	b := messages.Limits{
		MaxTasks: l.MaxTasks, MaxTenantTasks: l.MaxTenantTasks, MaxBrowsers: l.MaxBrowsers, QueueLength: l.QueueLength, QueueTimeout: l.QueueTimeout,
		IdleTimeout: l.IdleTimeout, MaxLife: l.MaxLife, GiveUpAfter: l.GiveUpAfter,
		MemoryHigh: l.MemoryHigh, MemoryLow: l.MemoryLow, CPUHigh: l.CPUHigh, CPULow: l.CPULow,
	}
	switch b.MaxTenantTasks {
	case 0:
		b.MaxTenantTasks = (3*b.MaxTasks + 3) / 4 // one tenant does not fill the node
	case -1:
		b.MaxTenantTasks = 0
	}
	if b.QueueLength == 0 {
		b.QueueLength = -1
	}
	if b.MemoryHigh == 0 {
		b.MemoryHigh = -1
	}
	if b.CPUHigh == 0 {
		b.CPUHigh = -1 // its default, but one that a cpu_low may stand beside
	}
	return b
}

// Drain is how a node ends that was asked to.
type Drain struct {
	Timeout time.Duration `key:"timeout" flag:"drain-timeout" default:"25s" min:"1s" max:"1h" help:"From the first signal to the end of the process. It has to be shorter than what the service manager grants: 90 s with systemd, 30 s with Kubernetes."`
	Delay   time.Duration `key:"delay" flag:"drain-delay" default:"0s" min:"0s" help:"How long calls are still taken while /readyz already says 503, so that load balancers notice. It is part of the timeout."`
}

// Browser is what browsers are launched with.
type Browser struct {
	Path       string   `key:"path" flag:"chrome" empty:"the first Chromium found in PATH" help:"Chromium's binary."`
	Args       []string `key:"args" flag:"chrome-arg" empty:"none" help:"Flags for every launched browser."`
	Isolation  string   `key:"isolation" flag:"browser-isolation" default:"auto" enum:"auto,require,off" help:"How a launched browser is kept from the node's files. auto does what the system allows: as root a user of its own and a mount namespace without the state directory, else a user namespace, and where namespaces are refused rules of the kernel (Landlock); what is not allowed is a warning. require launches no browser without it."`
	Sandbox    string   `key:"sandbox" flag:"browser-sandbox" default:"auto" enum:"auto,require" help:"Whether a launched browser may run without Chromium's own sandbox. auto warns at each launch without it; require launches no such browser."`
	Env        []string `key:"env" flag:"browser-env" empty:"none" help:"Names of environment variables that a launched browser gets from the node besides the usual ones (PATH, HOME, LANG, DISPLAY and the like); NAME* stands for all that begin so."`
	Apps       []string `key:"apps" flag:"browser-app" empty:"none" help:"Applications made from Chromium, such as Electron ones, that the admin token may have launched in place of a browser: absolute paths; one with a separator at the end stands for all files below it. They run with the node's user on the node's machine."`
	AppsDenied []string `key:"apps_denied" flag:"browser-app-denied" empty:"none" help:"Applications that may not be launched, though browser.apps has them."`
	ShareLinks string   `key:"share_links" flag:"browser-share-links" default:"auto" enum:"auto,off" help:"Whether tasks that attach to the same browser share two connections to it. auto shares where it is proved that each connection to the address leads to the same browser; off gives each task connections of its own."`
	Transport  string   `key:"transport" flag:"browser-transport" default:"pipe" enum:"pipe,port" help:"How a launched browser is driven. Over a pipe only the node reaches it; a port on the loopback interface is open to every user of the machine and to pages."`
}

// Browsers are those that a node has as a whole.
type Browsers struct {
	Warm int `key:"warm" flag:"browsers-warm" default:"0" min:"0" max:"1000" help:"Browsers that run already, for the next tasks without a browser of their own: such a task starts in milliseconds (make bench BENCH=launch). Each is a whole browser, with its memory, and is beyond max_browsers. A task with a window, of an application, or behind the proxy of the egress policy has its browser launched as ever."`
}

// Logging is what is logged and how.
type Logging struct {
	Level  slog.Level `key:"level" flag:"log-level" default:"info" reload:"yes" help:"The least severe lines that are written."`
	Format string     `key:"format" flag:"log-format" default:"text" enum:"text,json" help:"The form of a line."`
	Audit  bool       `key:"audit" flag:"log-audit" default:"false" help:"Write who answered which dialog, ran which CDP command and recovered which page, not at debug level alone."`
}
