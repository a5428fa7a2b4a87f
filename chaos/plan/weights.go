package plan

// Kind is what happens in a step.
type Kind string

// Ordinary life.
const (
	Navigate      Kind = "navigate"       // by the task's caller
	UserNavigate  Kind = "user_navigate"  // by the page's user
	AddFrame      Kind = "add_frame"      // same site or another
	NavigateFrame Kind = "navigate_frame" // with a change of process, perhaps
	RemoveFrame   Kind = "remove_frame"
	OpenPopup     Kind = "open_popup"
	ClosePage     Kind = "close_page" // by its user
	OpenTab       Kind = "open_tab"   // raw Target.createTarget
	CloseTab      Kind = "close_tab"  // raw Target.closeTarget
	OpenDialog    Kind = "open_dialog"
	Answer        Kind = "answer"      // by Count callers at once
	UserAnswer    Kind = "user_answer" // at the screen
	Evaluate      Kind = "evaluate"    // raw CDP on a page
	EvaluateFrame Kind = "evaluate_frame"
	Console       Kind = "console"
	Read          Kind = "read"    // snapshots, lists, streams
	Revive        Kind = "revive"  // what has crashed, hangs or is stuck
	Restart       Kind = "restart" // stop a task and start it
	Rebind        Kind = "rebind"  // to another browser or scope
)

// Faults.
const (
	ResetPrimary   Kind = "reset_primary"
	ResetAnchor    Kind = "reset_anchor"
	ResetBoth      Kind = "reset_both"
	ResetAll       Kind = "reset_all"   // every link of a browser
	CleanClose     Kind = "clean_close" // 1000, 1001, 1006, 1009
	HalfOpen       Kind = "half_open"   // stalled until the keepalive finds out
	Stall          Kind = "stall"       // and resumed
	DialRefused    Kind = "dial_refused"
	DialBlackHole  Kind = "dial_black_hole"
	DialError      Kind = "dial_500"
	DialSlow       Kind = "dial_slow"
	Garbage        Kind = "garbage" // garbage, truncated, unknown session, unknown id
	Oversized      Kind = "oversized"
	MissingReply   Kind = "missing_reply"
	DuplicateReply Kind = "duplicate_reply"
	DelayedReply   Kind = "delayed_reply"
	CrashPage      Kind = "crash_page"
	CrashFrame     Kind = "crash_frame"
	Spin           Kind = "spin" // a renderer in a busy loop
	Detach         Kind = "detach"
	SwapInAttach   Kind = "swap_in_attach" // same → cross → same during the attach
	DialogBurst    Kind = "dialog_burst"
	DropInCall     Kind = "drop_in_call"   // with a command under way
	DropInAnswer   Kind = "drop_in_answer" // with an answer under way
	ActorPanic     Kind = "panic"
	BrowserRestart Kind = "browser_restart"
	HeldPopup      Kind = "held_popup"   // link lost while it is held (C33)
	Poison         Kind = "poison"       // the frame of an open dialog goes (C15)
	TwoDialogs     Kind = "two_dialogs"  // at once on one page (C14)
	BeforeUnload   Kind = "beforeunload" // a page that asks before it goes
)

// DoomedDialog is of the plans of [NewDoomed] alone: a page asks while its next document
// comes (C58).
const DoomedDialog Kind = "doomed_dialog"

// SlowPage is a tab of the user's whose renderer takes its time to start: keys
// are taken for it as under a dialog. Only plans of [NewShared] have it.
const SlowPage Kind = "slow_page"

// Faults that last, of [NewOutages] alone.
const (
	Outage  Kind = "outage"   // the task's browser drops every link and takes none for a while
	LateEnd Kind = "late_end" // half-open, and its sessions end at the browser when it has long been replaced (C5, C61)
)

var longFaults = []Kind{Outage, Outage, LateEnd}

// weights make about half of the steps faults, the more of them the likelier
// they are in the field.
var weights = []struct {
	kind   Kind
	weight int
}{
	{Navigate, 35},
	{UserNavigate, 15},
	{AddFrame, 45},
	{NavigateFrame, 35},
	{RemoveFrame, 20},
	{OpenPopup, 25},
	{ClosePage, 12},
	{OpenTab, 12},
	{CloseTab, 10},
	{OpenDialog, 60},
	{Answer, 60},
	{UserAnswer, 10},
	{Evaluate, 20},
	{EvaluateFrame, 30},
	{Console, 10},
	{Read, 10},
	{Revive, 40},
	{Restart, 12},
	{Rebind, 8},

	{ResetPrimary, 60},
	{ResetAnchor, 25},
	{ResetBoth, 35},
	{ResetAll, 15},
	{CleanClose, 25},
	{HalfOpen, 10},
	{Stall, 15},
	{DialRefused, 15},
	{DialBlackHole, 8},
	{DialError, 10},
	{DialSlow, 10},
	{Garbage, 20},
	{Oversized, 1},
	{MissingReply, 15},
	{DuplicateReply, 10},
	{DelayedReply, 15},
	{CrashPage, 15},
	{CrashFrame, 15},
	{Spin, 12},
	{Detach, 15},
	{SwapInAttach, 20},
	{DialogBurst, 20},
	{DropInCall, 20},
	{DropInAnswer, 20},
	{ActorPanic, 70},
	{BrowserRestart, 8},
	{HeldPopup, 15},
	{Poison, 15},
	{TwoDialogs, 12},
	{BeforeUnload, 12},
}

var total = func() int {
	n := 0
	for _, w := range weights {
		n += w.weight
	}
	return n
}()

// Kinds lists every kind of step.
func Kinds() []Kind {
	var kinds []Kind
	for _, w := range weights {
		kinds = append(kinds, w.kind)
	}
	return kinds
}

// Panics are the places where an actor can be broken. The registry is not
// among them: it is the root, its end is the end of the node, which has a test
// of its own.
var Panics = func() []Panic {
	var list []Panic
	for _, actor := range []string{"supervisor", "browser", "anchor", "session", "dialog", "frame"} {
		for _, phase := range []string{"init", "receive", "terminate"} {
			if actor == "supervisor" && phase != "receive" {
				list = append(list, Panic{actor, phase})
				continue
			}
			list = append(list, Panic{actor, phase}, Panic{actor, phase}) // twice as likely
		}
	}
	return list
}()
