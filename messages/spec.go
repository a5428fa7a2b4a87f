package messages

import (
	"bytes"
	"regexp"
	"time"
)

// Scope says which pages of its browser a task owns.
type Scope string

// The scopes of the contract.
const (
	ScopeOwn     Scope = "own"     // a tab of its own and every popup it opens
	ScopeBrowser Scope = "browser" // every page
	ScopeTarget  Scope = "target"  // one existing page and every popup it opens
)

// Isolation says which browser context a task's pages are made in.
type Isolation string

// The values of isolation.
const (
	IsolationAuto    Isolation = "auto"    // context for scope own on a headless browser, else shared
	IsolationContext Isolation = "context" // one of its own; scope own only
	IsolationShared  Isolation = "shared"  // the browser's default one
)

// DialogPolicy says who answers a dialog.
type DialogPolicy string

// The policies (requirements D3, D5, D6).
const (
	PolicyMustRespond DialogPolicy = "must_respond" // a caller answers, or the watchdog dismisses; the default
	PolicyAutoDismiss DialogPolicy = "auto_dismiss" // each is dismissed as it opens
	PolicyAutoAccept  DialogPolicy = "auto_accept"  // each is accepted as it opens
)

// Anchor says whether a task has a second link.
type Anchor string

// The values of anchor.
const (
	AnchorAuto Anchor = "auto" // wherever the browser allows it
	AnchorNone Anchor = "off"  // never
)

// Bridge says how a task sees the dialogs of its pages, and what is known of the bridge of
// a task or a page.
type Bridge string

// The values of a spec's bridge, and what is known of a bridge.
const (
	BridgeAuto        Bridge = "auto"        // native until the browser is seen to close dialogs by itself
	BridgeOn          Bridge = "on"          // from the start; of a page, its dialogs come over the bridge
	BridgeOff         Bridge = "off"         // never
	BridgeNative      Bridge = "native"      // dialogs are Chrome's own
	BridgeUnavailable Bridge = "unavailable" // the bridge is wanted, and cannot work there
)

// BeforeUnload says what happens to a beforeunload dialog. The default is ask where the
// anchor is up and dialog_policy is must_respond, else accept: a beforeunload whose
// connections are lost cannot be answered any more (chromium fact C20).
type BeforeUnload string

// The answers to beforeunload.
const (
	BeforeUnloadAsk     BeforeUnload = "ask"     // it waits in pending_dialogs
	BeforeUnloadAccept  BeforeUnload = "accept"  // the page is left
	BeforeUnloadDismiss BeforeUnload = "dismiss" // the page stays
)

// Bounds and defaults of a task's spec.
const (
	DefaultDialogTimeout = 300 * time.Second
	// DefaultBridgeThreshold is less than the time an agent takes over a network; another
	// client that closes dialogs unasked takes a few milliseconds (C49).
	DefaultBridgeThreshold = 100 * time.Millisecond
	MaxBridgeThreshold     = 10 * time.Second
	MinDialogTimeout       = 100 * time.Millisecond
	MaxDialogTimeout       = 24 * time.Hour
	MinTaskLife            = time.Second
	MaxTaskLife            = 30 * 24 * time.Hour
	MaxLabels              = 16
	// DefaultOnWedgeAfter is longer than the seconds for which a busy page on a loaded machine is silent.
	DefaultOnWedgeAfter = 20 * time.Second
	MinOnWedgeAfter     = 5 * time.Second
	MaxOnWedgeAfter     = 24 * time.Hour
	DefaultGiveUpAfter  = 2 * time.Minute
	MinGiveUpAfter      = 5 * time.Second
	// MaxGiveUpAfter is longer than any outage that is worth waiting for.
	MaxGiveUpAfter = 24 * time.Hour
)

// LaunchSpec asks the node to launch a browser for the task alone. In JSON it
// is an object, true for all defaults, or false, which is the same as none.
type LaunchSpec struct {
	// Headless false opens a window; by default it is true.
	Headless *bool `json:"headless,omitempty"`
	// App is the absolute path of an application made from Chromium, such as an Electron one,
	// to launch in place of a browser. The node has to allow it, and the token to be the admin's.
	App string `json:"app,omitempty"`
	// Args are the application's arguments.
	Args []string `json:"args,omitempty"`
	// Restart says what becomes of the task when the node of a cluster that has launched its
	// browser is lost. Default: never.
	Restart LaunchRestart `json:"restart,omitempty" jsonschema:"enum=never,enum=anywhere"`

	isNo bool // launch was false: see TaskSpec.Normalized
}

// LaunchRestart says what becomes of a task whose launched browser has ended with its node.
type LaunchRestart string

// The values of restart.
const (
	RestartNever    LaunchRestart = "never"    // the task is lost
	RestartAnywhere LaunchRestart = "anywhere" // another node launches a browser for it, with nothing of the old one
)

// UnmarshalJSON accepts true, false, or an object without unknown fields.
func (l *LaunchSpec) UnmarshalJSON(b []byte) error {
	switch string(bytes.TrimSpace(b)) {
	case "true", "null":
		*l = LaunchSpec{}
		return nil
	case "false":
		*l = LaunchSpec{isNo: true}
		return nil
	}
	type plain LaunchSpec
	var p plain
	if err := unmarshalStrict(b, &p); err != nil {
		return Errorf(CodeInvalidArgument, "launch: %s", jsonProblem(err))
	}
	*l = LaunchSpec(p)
	return nil
}

// TaskSpec is what a caller wants of a task; every field may be left out.
//
// The zero value of a field means that it is left out: a new task takes the default, a
// running one keeps what it has.
type TaskSpec struct {
	// IsRestricted: a scoped caller starts the task, and the node's egress policy
	// holds for its browser (X15). It follows from the caller and stays what it
	// was when the task was started.
	IsRestricted bool `json:"-"`
	// NodeRules are the dialog rules of the node's configuration. They come before the
	// task's own, and no caller changes them.
	NodeRules DialogRules `json:"-"`

	// CDPURL is the browser to attach to: ws:// or wss://, or http:// or https://
	// of its debugging port. Without it the node launches a browser.
	CDPURL CDPURL `json:"cdp_url,omitzero"`
	// Launch launches a browser; it excludes cdp_url.
	Launch *LaunchSpec `json:"launch,omitempty"`
	// Scope says which pages of the browser are the task's. The default is browser for a
	// browser that the node launches for the task, else own.
	Scope Scope `json:"scope,omitempty"`
	// TargetID is the page that scope target takes.
	TargetID TargetID `json:"target_id,omitempty"`
	// Isolation says in which browser context the task's pages are. A context holds cookies,
	// storage, permissions and downloads.
	Isolation Isolation `json:"isolation,omitempty"`
	// DialogPolicy says who answers dialogs.
	DialogPolicy DialogPolicy `json:"dialog_policy,omitempty"`
	// DialogRules say what happens to single dialogs, before dialog_policy and beforeunload
	// do: the first that describes a dialog holds for it. At most [MaxDialogRules]; [] takes
	// away those that a running task has.
	DialogRules DialogRules `json:"dialog_rules,omitzero"`
	// DialogTimeoutS is how long a dialog waits before the watchdog dismisses it, in
	// seconds; by default [DefaultDialogTimeout].
	DialogTimeoutS float64 `json:"dialog_timeout_s,omitempty" jsonschema:"minimum=0.1,maximum=86400"`
	// Blockers says what happens to what pages ask their browser for besides dialogs. Of a
	// running task, a change holds for the pages that it opens from then on.
	Blockers *BlockerPolicies `json:"blockers,omitempty"`
	// BeforeUnload says what happens to beforeunload dialogs.
	BeforeUnload BeforeUnload `json:"beforeunload,omitempty"`
	// Bridge says whether dialogs go over the bridge. auto, the default, turns it on once
	// native dialogs are closed from outside.
	Bridge Bridge `json:"bridge,omitempty" jsonschema:"enum=auto,enum=on,enum=off"`
	// BridgeThresholdMS turns bridge auto on when another client closes a native
	// dialog within this time of its opening, in milliseconds; by default
	// [DefaultBridgeThreshold].
	BridgeThresholdMS int64 `json:"bridge_threshold_ms,omitempty" jsonschema:"minimum=1,maximum=10000"`
	// Anchor off leaves the task with one connection; the default is auto.
	Anchor Anchor `json:"anchor,omitempty"`
	// OnWedge says what the task does by itself about a page that does not answer.
	OnWedge OnWedge `json:"on_wedge,omitempty"`
	// OnWedgeAfterS is how long a page has to be silent without a break before on_wedge
	// acts on it, in seconds; by default [DefaultOnWedgeAfter]. After a crash it acts at once.
	OnWedgeAfterS float64 `json:"on_wedge_after_s,omitempty" jsonschema:"minimum=5,maximum=86400"`
	// IdleTimeoutS ends the task when it got no request for so long, in seconds
	// (requirement X7); by default the node's idle_timeout.
	IdleTimeoutS float64 `json:"idle_timeout_s,omitempty" jsonschema:"minimum=1,maximum=2592000"`
	// MaxLifeS ends the task so long after its start, in seconds (requirement X7); by default the
	// node's max_life.
	MaxLifeS float64 `json:"max_life_s,omitempty" jsonschema:"minimum=1,maximum=2592000"`
	// GiveUpAfterS is how long a lost connection is dialled for, in seconds; by default the
	// node's give_up_after. The task is lost only after that time and five failed
	// dials (requirement A14).
	GiveUpAfterS float64 `json:"give_up_after_s,omitempty" jsonschema:"minimum=5,maximum=86400"`
	// Labels are the caller's own marks, at most [MaxLabels], to find tasks in a list.
	Labels map[string]string `json:"labels,omitempty"`
	// QueueTimeoutS is how long this one start may wait for a place, in seconds
	// (requirement X4): 0 not at all, by default as long as the node allows, which is also the
	// longest. It is not kept with the task.
	QueueTimeoutS *float64 `json:"queue_timeout_s,omitempty" jsonschema:"minimum=0,maximum=300"`
}

// Normalized returns s in its plainest form: launch false is no launch, and who
// names a page means the scope target.
func (s TaskSpec) Normalized() TaskSpec {
	if s.Launch != nil && s.Launch.isNo {
		s.Launch = nil
	}
	if s.TargetID != "" && s.Scope == "" {
		s.Scope = ScopeTarget
	}
	return s
}

// Validate checks every field that was said. The error is an [*Error] with
// [CodeInvalidArgument] and names the field.
func (s TaskSpec) Validate() error {
	s = s.Normalized()
	switch s.Scope {
	case "", ScopeOwn, ScopeBrowser, ScopeTarget:
	default:
		return Errorf(CodeInvalidArgument, "scope must be own, browser or target")
	}
	if s.Launch != nil && s.Launch.Restart != "" && s.Launch.Restart != RestartNever && s.Launch.Restart != RestartAnywhere {
		return Errorf(CodeInvalidArgument, "launch.restart must be never or anywhere")
	}
	if err := CheckOpaqueID("target_id", string(s.TargetID)); err != nil {
		return err
	}
	if s.Scope == ScopeTarget && s.TargetID == "" {
		return Errorf(CodeInvalidArgument, "scope target needs a target_id")
	}
	if s.TargetID != "" && s.Scope != ScopeTarget {
		return Errorf(CodeInvalidArgument, "target_id goes with scope target")
	}
	if !s.CDPURL.IsZero() && s.Launch != nil {
		return Errorf(CodeInvalidArgument, "cdp_url and launch exclude each other")
	}
	if s.Launch != nil && s.Scope == ScopeTarget {
		return Errorf(CodeInvalidArgument, "scope target needs a browser that runs already: give its cdp_url")
	}
	if err := s.Launch.checkApp(); err != nil {
		return err
	}
	if s.App() != "" && s.Isolation == IsolationContext {
		return Errorf(CodeInvalidArgument, "isolation: an application has one browser context")
	}
	switch s.Isolation {
	case "", IsolationAuto, IsolationContext, IsolationShared:
	default:
		return Errorf(CodeInvalidArgument, "isolation must be auto, context or shared")
	}
	if err := s.checkIsolation(); err != nil {
		return err
	}
	switch s.DialogPolicy {
	case "", PolicyMustRespond, PolicyAutoDismiss, PolicyAutoAccept:
	default:
		return Errorf(CodeInvalidArgument, "dialog_policy must be must_respond, auto_dismiss or auto_accept")
	}
	if err := s.DialogRules.Validate(TaskRules); err != nil {
		return err
	}
	if s.DialogTimeoutS != 0 {
		// Compared as floats: a huge value would wrap as a Duration.
		if !(s.DialogTimeoutS >= MinDialogTimeout.Seconds() && s.DialogTimeoutS <= MaxDialogTimeout.Seconds()) {
			return Errorf(CodeInvalidArgument, "dialog_timeout_s must be between %g and %g", MinDialogTimeout.Seconds(), MaxDialogTimeout.Seconds())
		}
	}
	if err := s.Blockers.validate(); err != nil {
		return err
	}
	switch s.BeforeUnload {
	case "", BeforeUnloadAsk, BeforeUnloadAccept, BeforeUnloadDismiss:
	default:
		return Errorf(CodeInvalidArgument, "beforeunload must be ask, accept or dismiss")
	}
	switch s.Bridge {
	case "", BridgeAuto, BridgeOn, BridgeOff:
	default:
		return Errorf(CodeInvalidArgument, "bridge must be auto, on or off")
	}
	if s.BridgeThresholdMS < 0 || s.BridgeThresholdMS > MaxBridgeThreshold.Milliseconds() {
		return Errorf(CodeInvalidArgument, "bridge_threshold_ms must be between 1 and %d", MaxBridgeThreshold.Milliseconds())
	}
	switch s.Anchor {
	case "", AnchorAuto, AnchorNone:
	default:
		return Errorf(CodeInvalidArgument, "anchor must be auto or off")
	}
	switch s.OnWedge {
	case "", OnWedgeReport, OnWedgeRelease, OnWedgeReload, OnWedgeClose:
	default:
		return Errorf(CodeInvalidArgument, "on_wedge must be report, release, reload or close")
	}
	if s.OnWedgeAfterS != 0 && !(s.OnWedgeAfterS >= MinOnWedgeAfter.Seconds() && s.OnWedgeAfterS <= MaxOnWedgeAfter.Seconds()) {
		return Errorf(CodeInvalidArgument, "on_wedge_after_s must be between %g and %g", MinOnWedgeAfter.Seconds(), MaxOnWedgeAfter.Seconds())
	}
	if err := checkLife("idle_timeout_s", s.IdleTimeoutS); err != nil {
		return err
	}
	if err := checkLife("max_life_s", s.MaxLifeS); err != nil {
		return err
	}
	if s.GiveUpAfterS != 0 && !(s.GiveUpAfterS >= MinGiveUpAfter.Seconds() && s.GiveUpAfterS <= MaxGiveUpAfter.Seconds()) {
		return Errorf(CodeInvalidArgument, "give_up_after_s must be between %g and %g", MinGiveUpAfter.Seconds(), MaxGiveUpAfter.Seconds())
	}
	if q := s.QueueTimeoutS; q != nil && !(*q >= 0 && *q <= MaxQueueTimeout.Seconds()) {
		return Errorf(CodeInvalidArgument, "queue_timeout_s must be between 0 and %g", MaxQueueTimeout.Seconds())
	}
	return checkLabels(s.Labels)
}

// checkIsolation refuses a context of its own for a task that has pages of others.
func (s TaskSpec) checkIsolation() error {
	if s.Isolation == IsolationContext && s.Scope != "" && s.Scope != ScopeOwn {
		return Errorf(CodeInvalidArgument, "isolation context goes with scope own")
	}
	return nil
}

func checkLife(field string, s float64) error {
	if s != 0 && !(s >= MinTaskLife.Seconds() && s <= MaxTaskLife.Seconds()) {
		return Errorf(CodeInvalidArgument, "%s must be between %g and %g", field, MinTaskLife.Seconds(), MaxTaskLife.Seconds())
	}
	return nil
}

var (
	labelKey   = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,63}$`)
	labelValue = regexp.MustCompile(`^[A-Za-z0-9._/:@-]{0,128}$`)
)

func checkLabels(labels map[string]string) error {
	if len(labels) > MaxLabels {
		return Errorf(CodeInvalidArgument, "labels: at most %d", MaxLabels)
	}
	for k, v := range labels {
		if !labelKey.MatchString(k) || !labelValue.MatchString(v) {
			return Errorf(CodeInvalidArgument, "labels: keys are 1 to 63 of A-Z a-z 0-9 . _ / -, values up to 128 of those and : @")
		}
	}
	return nil
}

// WithDefaults returns s with every field said but BeforeUnload, whose default
// depends on the links. A task without cdp_url
// launches a browser of its own.
func (s TaskSpec) WithDefaults() TaskSpec {
	if s.CDPURL.IsZero() && s.Launch == nil {
		s.Launch = &LaunchSpec{}
	}
	if s.Scope == "" {
		s.Scope = ScopeOwn
		if s.Launch != nil && s.Isolation != IsolationContext {
			s.Scope = ScopeBrowser
		}
	}
	if s.Isolation == "" {
		s.Isolation = IsolationAuto
	}
	if s.DialogPolicy == "" {
		s.DialogPolicy = PolicyMustRespond
	}
	if s.DialogTimeoutS == 0 {
		s.DialogTimeoutS = DefaultDialogTimeout.Seconds()
	}
	if s.Bridge == "" {
		s.Bridge = BridgeAuto
	}
	if s.BridgeThresholdMS == 0 {
		s.BridgeThresholdMS = DefaultBridgeThreshold.Milliseconds()
	}
	if s.Anchor == "" {
		s.Anchor = AnchorAuto
	}
	if s.OnWedge == "" {
		s.OnWedge = OnWedgeReport
	}
	if s.OnWedgeAfterS == 0 {
		s.OnWedgeAfterS = DefaultOnWedgeAfter.Seconds()
	}
	return s
}

// Merge returns s with everything that asked says laid over it.
func (s TaskSpec) Merge(asked TaskSpec) TaskSpec {
	if !asked.CDPURL.IsZero() {
		s.CDPURL, s.Launch = asked.CDPURL, nil
	}
	if asked.Launch != nil {
		s.Launch, s.CDPURL = asked.Launch, CDPURL{}
	}
	if asked.Scope != "" {
		s.Scope, s.TargetID = asked.Scope, asked.TargetID
	}
	if asked.Isolation != "" {
		s.Isolation = asked.Isolation
	}
	if asked.DialogPolicy != "" {
		s.DialogPolicy = asked.DialogPolicy
	}
	if asked.DialogRules != nil {
		s.DialogRules = asked.DialogRules
	}
	if asked.DialogTimeoutS != 0 {
		s.DialogTimeoutS = asked.DialogTimeoutS
	}
	if asked.Blockers != nil {
		s.Blockers = asked.Blockers
	}
	if asked.BeforeUnload != "" {
		s.BeforeUnload = asked.BeforeUnload
	}
	if asked.Bridge != "" {
		s.Bridge = asked.Bridge
	}
	if asked.BridgeThresholdMS != 0 {
		s.BridgeThresholdMS = asked.BridgeThresholdMS
	}
	if asked.Anchor != "" {
		s.Anchor = asked.Anchor
	}
	if asked.OnWedge != "" {
		s.OnWedge = asked.OnWedge
	}
	if asked.OnWedgeAfterS != 0 {
		s.OnWedgeAfterS = asked.OnWedgeAfterS
	}
	if asked.IdleTimeoutS != 0 {
		s.IdleTimeoutS = asked.IdleTimeoutS
	}
	if asked.MaxLifeS != 0 {
		s.MaxLifeS = asked.MaxLifeS
	}
	if asked.GiveUpAfterS != 0 {
		s.GiveUpAfterS = asked.GiveUpAfterS
	}
	if asked.Labels != nil {
		s.Labels = asked.Labels
	}
	return s
}

// IsSameBrowser says whether both specs name the same pages of the same
// browser; where they do not, the task is rebound and nothing is kept
// (requirement A4).
func (s TaskSpec) IsSameBrowser(t TaskSpec) bool {
	return s.CDPURL.Equal(t.CDPURL) && (s.Launch == nil) == (t.Launch == nil) &&
		(s.Launch == nil || s.Launch.isHeadless() == t.Launch.isHeadless() && s.Launch.isSameApp(t.Launch)) &&
		s.Scope == t.Scope && s.TargetID == t.TargetID && s.Isolation == t.Isolation
}

func (l *LaunchSpec) isHeadless() bool { return l.Headless == nil || *l.Headless }

// IsHeadless says whether the browser is to run without a window.
func (s TaskSpec) IsHeadless() bool { return s.Launch == nil || s.Launch.isHeadless() }

// BridgeThreshold is BridgeThresholdMS as a duration.
func (s TaskSpec) BridgeThreshold() time.Duration {
	return time.Duration(s.BridgeThresholdMS) * time.Millisecond
}

// OnWedgeAfter is OnWedgeAfterS as a duration.
func (s TaskSpec) OnWedgeAfter() time.Duration {
	return time.Duration(s.OnWedgeAfterS * float64(time.Second))
}

// GiveUpAfter is GiveUpAfterS as a duration, or the default where it is not said.
func (s TaskSpec) GiveUpAfter() time.Duration {
	if s.GiveUpAfterS == 0 {
		return DefaultGiveUpAfter
	}
	return time.Duration(s.GiveUpAfterS * float64(time.Second))
}

// DialogTimeout is DialogTimeoutS as a duration.
func (s TaskSpec) DialogTimeout() time.Duration {
	return time.Duration(s.DialogTimeoutS * float64(time.Second))
}
