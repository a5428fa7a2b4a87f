package metrics

import (
	"fmt"

	"holdfast/internal/guard"
	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/transport"
)

// The groups of the documentation, in its order.
const (
	groupCapacity = "Capacity"
	groupDialogs  = "Dialogs"
	groupPages    = "Pages"
	groupUpstream = "Upstream"
	groupClients  = "Clients"
	groupHTTP     = "HTTP"
	groupActors   = "Actors"
	groupBrowsers = "Browsers"
	groupBounds   = "Bounds"
	groupCluster  = "Cluster"
)

var groups = []string{
	groupCapacity, groupDialogs, groupPages, groupUpstream, groupClients, groupHTTP, groupActors, groupBrowsers, groupBounds, groupCluster,
}

// other is the value of a label for what its list does not have.
const other = "other"

// The lists below stand before whatever is made of them: the documentation has the
// order in which the table comes to be.

// cdpTraffic is who says what: on a link to a browser, and to a client of the gateway.
var cdpTraffic = [][]string{
	{"out", legUpstream, "command"},
	{"in", legUpstream, "reply"},
	{"in", legUpstream, "event"},
	{"in", legUpstream, other},
	{"in", legDownstream, "command"},
	{"out", legDownstream, "reply"},
	{"out", legDownstream, "event"},
}

// wedges are the states of a page that cannot answer: first those that are no
// failures of the page.
var wedges = []messages.PageState{
	messages.PageDialog, messages.PageBlockedElsewhere, messages.PagePaused, messages.PageDialogUnreachable, messages.PageCrashed, messages.PageHung,
}

// The values of labels, all present from the start. A list that ends with other
// takes values from outside.
var (
	taskStates   = label{"state", append([]string{"queued"}, taskStateNames()...)}
	taskOutcomes = label{"outcome", stringsOf(messages.TaskOutcomes())}
	startKinds   = label{"kind", []string{startLaunch, startAttach}}
	rejections   = label{"reason", stringsOf(messages.LimitReasons())}

	dialogTypes  = label{"type", []string{string(messages.DialogAlert), string(messages.DialogConfirm), string(messages.DialogPrompt), string(messages.DialogBeforeUnload), other}}
	dialogPaths  = label{"path", []string{string(messages.PathNative), string(messages.PathBridge)}}
	dialogFrames = label{"frame", []string{frameMain, frameOOPIF}}
	dialogEnds   = label{"closed_by", []string{
		string(messages.ClosedByAgent), string(messages.ClosedByHuman), string(messages.ClosedByRule), string(messages.ClosedByAutoPolicy), string(messages.ClosedByWatchdog),
		string(messages.ClosedByRemote), string(messages.ClosedByLost),
	}}

	wedgeCauses = label{"cause", stringsOf(wedges)}
	// A dialog is no failure of its page and has metrics of its own; who pauses a
	// page is debugging it.
	failures       = label{"cause", stringsOf(wedges[3:])}
	recoverActions = label{"action", stringsOf(messages.RecoverActions())}
	okFailed       = label{"result", []string{resultOK, resultFailed}}

	roles           = label{"role", []string{"primary", "anchor"}}
	anchorOffs      = label{"reason", stringsOf(messages.AnchorOffs())}
	promotions      = label{"result", []string{"answered", resultFailed}}
	reconnectCauses = label{"cause", []string{
		string(messages.CauseClosed), string(messages.CauseHalfOpen), string(messages.CauseFlood), string(messages.CauseDial), string(messages.CauseAttach),
	}}
	shortages  = label{"resource", stringsOf(transport.Shortages())}
	directions = label{"direction", []string{"in", "out"}}
	legs       = label{"leg", []string{legUpstream, legDownstream}}
	linkLeg    = label{"leg", []string{legUpstream}}
	cdpKinds   = label{"kind", []string{"command", "reply", "event", other}}
	linkThings = label{"what", linkEvents()}
	cdpDomains = label{"domain", transport.Domains()}

	clientReasons = label{"reason", stringsOf(messages.ClientRejections())}

	routeClasses = label{"route_class", []string{"read", "life", "dialog", "drive", "events", "health", other}}
	closedRoutes = label{"route_class", []string{"read", "life", "dialog", "drive", "events", other}}
	timedRoutes  = label{"route_class", []string{"read", "life", "drive"}}
	httpResults  = label{"result", []string{resultOK, "refused", "gone", resultFailed}}

	actorKinds   = label{"kind", []string{"registry", "supervisor", "browser", "session", "dialog", "frame", "anchor", other}}
	childKinds   = label{"kind", []string{"browser", "session", "dialog", "frame", "anchor", other}}
	exitReasons  = label{"reason", stringsOf([]guard.ReasonKind{guard.Normal, guard.Shutdown, guard.Failure, guard.Panic, guard.Abandoned})}
	letterAges   = label{"when", []string{letterAtExit, letterLate}}
	browserExits = label{"reason", []string{"stopped", "exited", "signal", "launch_failed"}}
	boundNames   = label{"bound", stringsOf(shed.All())}
)

const (
	resultOK, resultFailed   = "ok", "failed"
	frameMain, frameOOPIF    = "main", "oopif"
	legUpstream              = "upstream"   // between the node and a browser
	legDownstream            = "downstream" // between a client and the node
	letterAtExit, letterLate = "at_exit", "late"
	startLaunch, startAttach = "launch", "attach" // a browser for it, or it to one that was there
)

// The table: every metric of a node that is not of the Go runtime or of the
// process. docs/metrics.md is made of it.
var (
	buildInfo = gauge(groupCapacity, "holdfast_build_info", "1, with what was built as labels.",
		label{"version", nil}, label{"revision", nil}, label{"goversion", nil})
	tasks      = gauge(groupCapacity, "holdfast_tasks", "Tasks of the node, by state; queued ones wait to be admitted.", taskStates)
	tasksTotal = counter(groupCapacity, "holdfast_tasks_total",
		"Tasks that have ended, by outcome; failed never attached, lost had.", taskOutcomes)
	taskLimit    = gauge(groupCapacity, "holdfast_task_limit", "How many tasks may run at a time.")
	startSeconds = histogram(groupCapacity, "holdfast_task_start_duration_seconds",
		"Time from a task's admission until it had attached.", []float64{.1, .5, 1, 5, 15}, startKinds)
	queueLength   = gauge(groupCapacity, "holdfast_task_queue_length", "Tasks that wait to be admitted.")
	queueCapacity = gauge(groupCapacity, "holdfast_task_queue_capacity", "How many tasks may wait to be admitted.")
	queueWait     = histogram(groupCapacity, "holdfast_task_queue_wait_seconds",
		"Time that tasks have waited that had to, and were admitted.", []float64{.01, 1, 5, 15, 30})
	rejected = counter(groupCapacity, "holdfast_admission_rejected_total", "Callers whose task was not admitted, by what stood against it.", rejections)
	memUsed  = gauge(groupCapacity, "holdfast_memory_used_bytes",
		"Memory in use where the node's limit is: in its control group, or on the machine. 0 while it is not looked at.")
	memLimit = gauge(groupCapacity, "holdfast_memory_limit_bytes", "That limit.")
	draining = gauge(groupCapacity, "holdfast_draining", "1 while the node takes no new tasks because it is to end.")

	dialogsOpened = counter(groupDialogs, "holdfast_dialogs_opened_total",
		"JavaScript dialogs that have opened; frame is oopif where an out-of-process iframe asks. Those of the bridge are counted from the first on.",
		dialogTypes, dialogPaths, dialogFrames).unless(func(set []string) bool { return set[1] == string(messages.PathBridge) })
	dialogsClosed  = counter(groupDialogs, "holdfast_dialogs_closed_total", "JavaScript dialogs that have closed, by who ended them.", dialogEnds)
	dialogsPending = gauge(groupDialogs, "holdfast_dialogs_pending", "Dialogs that wait for an answer.")
	dialogOldest   = gauge(groupDialogs, "holdfast_dialog_oldest_age_seconds", "Age of the oldest dialog that waits for an answer; 0 without one.")
	dialogUsed     = gauge(groupDialogs, "holdfast_dialog_watchdog_ratio",
		"Of the dialogs that wait, the largest share used up of the time until the watchdog dismisses it.")
	detectSeconds = histogram(groupDialogs, "holdfast_dialog_detect_seconds",
		"Time from the browser's word of a dialog until snapshots showed it.", []float64{.001, .005, .025, .1, .5, 2.5})
	answerSeconds = histogram(groupDialogs, "holdfast_dialog_answer_seconds",
		"Time from an answer until its dialog had closed.", []float64{.005, .025, .1, .5, 2.5, 10})
	dialogsFault = counter(groupDialogs, "holdfast_dialogs_lost_by_fault_total",
		"Dialogs, among those that were lost, that the node has lost by a fault of its own: the actor of their page's session failed, and no second link covered the page.")
	lateAnswers = counter(groupDialogs, "holdfast_dialog_late_answers_total", "Answers to dialogs that had closed before, or were lost.")

	pages        = gauge(groupPages, "holdfast_pages", "Pages of all tasks.")
	pageWedged   = gauge(groupPages, "holdfast_page_wedged", "Pages that cannot answer, by cause.", wedgeCauses)
	pageWedges   = counter(groupPages, "holdfast_page_wedges_total", "Times a page came to be unable to answer, by cause.", wedgeCauses)
	wedgeSeconds = histogram(groupPages, "holdfast_page_wedge_seconds",
		"How long pages could not answer that had failed.", []float64{1, 10, 60}, failures)
	recoveries = counter(groupPages, "holdfast_page_recoveries_total",
		"Recoveries of pages, asked for or by on_wedge, by what came of them.", recoverActions, okFailed)
	frames       = gauge(groupPages, "holdfast_frames", "Frames of the tasks' current pages that snapshots show, which is 30 of each at most.")
	oopifs       = gauge(groupPages, "holdfast_oopif_sessions", "Out-of-process iframes among them that are attached.")
	truncated    = gauge(groupPages, "holdfast_frame_trees_truncated", "Tasks whose snapshot does not show every frame of the current page; full=true does.")
	frameResyncs = counter(groupPages, "holdfast_frame_resyncs_total", "Times the frames of a task were learned anew, after a reconnect or a failure.")

	upstream   = gauge(groupUpstream, "holdfast_upstream_connections", "Links to browsers that are up.", roles)
	reconnects = counter(groupUpstream, "holdfast_upstream_reconnects_total",
		"Attempts to bring back a lost primary link; of one that succeeded, why it was lost.", okFailed, reconnectCauses).
		only([]string{resultOK, string(messages.CauseClosed)}, []string{resultOK, string(messages.CauseHalfOpen)}, []string{resultOK, string(messages.CauseFlood)},
			[]string{resultFailed, string(messages.CauseDial)}, []string{resultFailed, string(messages.CauseAttach)})
	gapSeconds = histogram(groupUpstream, "holdfast_upstream_gap_seconds",
		"Time a task was without events because of a lost link.", []float64{.01, .025, .1, .5, 1, 5, 30})
	promoted = counter(groupUpstream, "holdfast_anchor_promotions_total",
		"Dialogs whose answer had to go through the anchor: closed by it, or otherwise.", promotions)
	anchorOff    = gauge(groupUpstream, "holdfast_anchor_off", "Tasks that have no anchor, by reason.", anchorOffs)
	dialsWaiting = gauge(groupUpstream, "holdfast_dials_waiting", "Links that wait for their turn to be dialled.")
	dialsShort   = counter(groupUpstream, "holdfast_dials_short_total",
		"Dials that failed for want of something of the node's own; they count for no task's give_up_after_s.", shortages)
	cdpMessages = counter(groupUpstream, "holdfast_cdp_messages_total", "CDP messages: of the links to browsers, and of the clients of tasks.", directions, legs, cdpKinds).
			only(cdpTraffic...)
	cdpBytes = counter(groupUpstream, "holdfast_cdp_bytes_total", "Their payload.", directions, legs, cdpKinds).
			only(cdpTraffic...)
	cdpSeconds = histogram(groupUpstream, "holdfast_cdp_command_duration_seconds",
		"Time from a command until its outcome, ours and the agents'.", transport.CommandBounds, cdpDomains, okFailed)
	cdpInFlight = gauge(groupUpstream, "holdfast_cdp_commands_in_flight", "Commands without an outcome.", linkLeg)
	linkTotal   = counter(groupUpstream, "holdfast_link_events_total", "What else the links to browsers did.", linkThings)

	clients          = gauge(groupClients, "holdfast_clients", "CDP clients that are connected to tasks.")
	clientRejections = counter(groupClients, "holdfast_client_rejections_total", "CDP clients that were refused or cut off, by reason.", clientReasons)
	clientStall      = histogram(groupClients, "holdfast_client_stall_seconds", "Time that a client took for one message, where it was more than 10 ms.", []float64{.1, 1, 10})
	clientDropped    = counter(groupClients, "holdfast_client_dropped_events_total", "Messages that clients were not told which were cut off since they did not read.")
	clientDecoded    = counter(groupClients, "holdfast_client_decoded_events_total", "Events for clients that the gateway has decoded, for what it remembers of a session; every other one is passed on as it came.")

	httpRequests = counter(groupHTTP, "holdfast_http_requests_total",
		"Requests that were answered; refused is a status from 400, failed one from 500 or an answer that was cut off, gone a caller that hung up before its answer.", routeClasses, httpResults)
	httpSeconds  = histogram(groupHTTP, "holdfast_http_request_duration_seconds", "How long that took, for classes that do not wait for people.", []float64{.01, .1, 1}, timedRoutes)
	eventStreams = gauge(groupHTTP, "holdfast_event_streams", "Event streams that are open.")
	authFailures = counter(groupHTTP, "holdfast_auth_failures_total", "Requests refused for their token.", closedRoutes)

	actors        = gauge(groupActors, "holdfast_actors", "Actors that live.", actorKinds)
	actorExits    = counter(groupActors, "holdfast_actor_exits_total", "Actors that have ended, by reason.", exitReasons)
	actorRestarts = counter(groupActors, "holdfast_actor_restarts_total",
		"Actors started again after a failure; of browser and anchor, a reconnect.", childKinds)
	actorGaveUp  = counter(groupActors, "holdfast_actor_restart_budget_exhausted_total", "Actors not started again: they had failed too often.", childKinds)
	mailboxes    = gauge(groupActors, "holdfast_actor_mailbox_length", "Messages that wait in the longest mailbox.", actorKinds)
	mailboxShed  = counter(groupActors, "holdfast_actor_mailbox_shed_total", "Messages dropped at the door of a full mailbox.", actorKinds)
	deadLetters  = counter(groupActors, "holdfast_dead_letters_total", "Messages to actors that were gone: those that crossed the exit are normal, late ones are a bug.", letterAges)
	duplicateIDs = counter(groupActors, "holdfast_actor_duplicate_ids_total", "Actors started under an id that was taken: always a bug.")

	browsers     = gauge(groupBrowsers, "holdfast_browsers", "Browsers launched by the node that run.")
	browsersWarm = gauge(groupBrowsers, "holdfast_browsers_warm", "Browsers among them that are ready for tasks to come.")
	browserLimit = gauge(groupBrowsers, "holdfast_browser_limit", "How many tasks may have one at a time.")
	browserEnds  = counter(groupBrowsers, "holdfast_browser_exits_total", "Launched browsers that have ended, by reason.", browserExits)
	browserRSS   = gauge(groupBrowsers, "holdfast_browser_rss_bytes", "Resident memory of launched browsers, all their processes; what they share is counted once for each.")
	orphans      = counter(groupBrowsers, "holdfast_browser_orphans_reaped_total", "Browsers of an earlier node that were ended.")

	shedTotal = counter(groupBounds, "holdfast_shed_total", "Times a bound has dropped, cut or refused something.", boundNames)
)

// taskStateNames leaves out stopped: such a task is not listed any more.
func taskStateNames() []string {
	var names []string
	for _, s := range messages.TaskStates() {
		if s != messages.StateStopped {
			names = append(names, string(s))
		}
	}
	return names
}

func stringsOf[T any](values []T) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = fmt.Sprint(v)
	}
	return names
}

func linkEvents() []string {
	var names []string
	new(transport.Stats).Each(func(name string, _ uint64) { names = append(names, name) })
	return names
}

// The metrics of a node in a cluster.
var (
	leaseStates = label{"state", stringsOf(messages.LeaseStates())}
	writeEnds   = label{"outcome", []string{"answered", "unknown"}}
	refusals    = label{"reason", stringsOf(Refusals())}
	takings     = label{"how", stringsOf(Takings())}
	peerAsks    = label{"kind", stringsOf(PeerAsks())}
	peerEnds    = label{"outcome", []string{"answered", "failed"}}
	actorLosses = label{"outcome", []string{"dropped", "refused"}}

	clusterQuorum  = gauge(groupCluster, "holdfast_cluster_has_quorum", "1 while the cluster's store answers this node.")
	clusterLease   = gauge(groupCluster, "holdfast_cluster_lease_held", "1 while the node has a lease and decides for its tasks.")
	clusterMargin  = gauge(groupCluster, "holdfast_cluster_lease_margin_seconds", "What was left of the lease at its last renewal, of 2 s.")
	clusterNodes   = gauge(groupCluster, "holdfast_cluster_nodes", "Nodes of the cluster as this one sees them, by the state of their lease.", leaseStates)
	clusterLapses  = counter(groupCluster, "holdfast_cluster_lease_lapses_total", "Times that the node's lease has lapsed.")
	clusterTerms   = counter(groupCluster, "holdfast_cluster_terms_total", "Terms that the node has begun: more than one means that others gave it up.")
	clusterRefused = counter(groupCluster, "holdfast_cluster_refused_total", "Requests that claimed to be another node's and were refused, by the reason.", refusals)
	clusterWrites  = counter(groupCluster, "holdfast_cluster_store_writes_total", "Transactions of the node, by whether the store answered in time.", writeEnds)

	clusterEra        = gauge(groupCluster, "holdfast_cluster_era", "The era of the store that the node is part of; it grows with recover and restore.")
	clusterFences     = counter(groupCluster, "holdfast_cluster_fences_total", "Nodes that this one has given up after their leases had lapsed.")
	clusterTaken      = counter(groupCluster, "holdfast_cluster_tasks_taken_total", "Tasks that the node has come to supervise after another node or its own earlier run, by how.", takings)
	clusterGiven      = counter(groupCluster, "holdfast_cluster_tasks_given_total", "Tasks that the node has given to others, as in a drain.")
	clusterStandbys   = gauge(groupCluster, "holdfast_cluster_standbys", "Tasks of other nodes that this one stands by for.")
	clusterStore      = histogram(groupCluster, "holdfast_cluster_store_write_seconds", "How long the store took for a transaction that it answered.", []float64{.005, .02, .1, .5})
	clusterSilence    = gauge(groupCluster, "holdfast_cluster_watch_silence_seconds", "For how long the watch of the store has brought nothing; a renewal of any node is something.")
	clusterWatches    = counter(groupCluster, "holdfast_cluster_watches_total", "Watches of the store that have begun: the first, and one after each that broke or was silent for 2 s.")
	clusterPeers      = counter(groupCluster, "holdfast_cluster_peer_requests_total", "What the node has asked other nodes, by kind and whether they answered.", peerAsks, peerEnds)
	clusterActorQueue = gauge(groupCluster, "holdfast_cluster_actor_queue_bytes", "Messages that wait for programs on actors.")
	clusterActorLost  = counter(groupCluster, "holdfast_cluster_actor_messages_lost_total", "Messages to programs on actors that were dropped, and of theirs that were refused.", actorLosses)
)
