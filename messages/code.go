package messages

// Code is a stable word for what went wrong; callers branch on it.
type Code string

// The contract's codes. [CodeTable] says of each what it means.
const (
	CodeInvalidArgument       Code = "invalid_argument"
	CodeUnauthorized          Code = "unauthorized"
	CodeForbidden             Code = "forbidden"
	CodeNotFound              Code = "not_found" // no such route
	CodeTaskNotFound          Code = "task_not_found"
	CodeFrameNotFound         Code = "frame_not_found"
	CodeTargetNotFound        Code = "target_not_found"
	CodeDialogNotFound        Code = "dialog_not_found"
	CodeClientNotFound        Code = "client_not_found"
	CodeClientBusy            Code = "client_busy"
	CodeArtifactNotFound      Code = "artifact_not_found"
	CodeNoDialog              Code = "no_dialog"
	CodeDialogAmbiguous       Code = "dialog_ambiguous"
	CodeDialogAlreadyAnswered Code = "dialog_already_answered"
	CodeDialogLost            Code = "dialog_lost"
	CodeFrameNotOOPIF         Code = "frame_not_oopif"
	CodeTargetForeign         Code = "target_foreign"
	CodeBlockedByDialog       Code = "blocked_by_dialog"
	CodePageWedged            Code = "page_wedged"
	CodePageCrashed           Code = "page_crashed"
	CodeCDPError              Code = "cdp_error"
	CodeScriptError           Code = "script_error"
	CodeStaleRef              Code = "stale_ref"
	CodeElementNotFound       Code = "element_not_found"
	CodeNotActionable         Code = "not_actionable"
	CodeCheckFailed           Code = "check_failed"
	CodeUpstreamUnavailable   Code = "upstream_unavailable"
	CodeDeadline              Code = "deadline"
	CodeMessageTooLarge       Code = "message_too_large"
	CodeLimitReached          Code = "limit_reached"
	CodeLeaseLapsed           Code = "lease_lapsed"
	CodeRehoming              Code = "rehoming"
	CodeNoQuorum              Code = "no_quorum"
	CodeWrongCluster          Code = "wrong_cluster"
	CodeInternal              Code = "internal"
)

// StatusGone is what a request counts as whose caller hung up before its answer. No caller
// ever sees it. The number is the one that proxies log then.
const StatusGone = 499

// CodeInfo says what a code means to a caller.
type CodeInfo struct {
	Code   Code
	Status int    // of the HTTP answer
	Cause  string // why it is answered
	Cure   string // what the caller does about it
	// Details names the keys that an error of this code may have in details, with their meanings.
	Details []Detail
}

// Detail is one key of an error's details.
type Detail struct{ Key, About string }

var (
	detailSent = Detail{"sent", "false: the browser never got the command, so it is safe to call again. true: it may have run"}
	detailPage = Detail{"page_state", "the state of the page"}
	detailTask = Detail{"task_id", "the task that was asked for"}
	detailHint = Detail{"hint", "the request that starts the task"}
	detailWait = Detail{"retry_after_s", "the seconds after which to ask again; the header Retry-After says the same"}
)

// codeTable has one entry a code, in the contract's order.
var codeTable = []CodeInfo{
	{
		CodeInvalidArgument, 400, "The request is malformed: the path, the query, a header, the JSON or a field of it.",
		"Correct what the message names. The same request fails again.",
		[]Detail{{"allowed", "the methods or the query parameters that the route takes"}},
	},
	{CodeUnauthorized, 401, "The token is missing, wrong or expired, or a login code was used already.", "Send `Authorization: Bearer TOKEN` with a valid token.", nil},
	{
		CodeForbidden, 403, "The token does not cover the task or the command, the Host or Origin is not allowed, the node's configuration refuses the request, or a rule leaves the dialog to a person.",
		"Use a token that covers it, or ask the node's operator. Of a dialog: have a person answer, and say `by: human`.",
		[]Detail{{"dialog_id", "the dialog that waits for a person"}, {"rule", "the rule that says so"}, {"waits_for", "human"}},
	},
	{CodeNotFound, 404, "The node has no such route or tool, or is part of no cluster.", "Compare the path with the routes on this page, and the tool with `GET /v1/tools`.", []Detail{{"nearest", "the routes or tools most like the one that was asked for"}}},
	{CodeTaskNotFound, 404, "No task of that id exists, or it has stopped.", "Start it with `PUT /v1/tasks/{id}`.", []Detail{detailTask, detailHint}},
	{CodeFrameNotFound, 404, "No frame of that id exists on the task's pages. A frame that navigates to another site may have been replaced.", "Read the frame tree of a new snapshot.", nil},
	{CodeTargetNotFound, 404, "The task has no such page, or no page at all, or the browser has no such target.", "Read `pages` of a new snapshot. `navigate` opens a page where the task has none.", []Detail{{"tabs", "the ids of the tabs there are"}}},
	{CodeDialogNotFound, 404, "The task never had a dialog of that id.", "Read `pending_dialogs` of a new snapshot.", []Detail{{"known", "the ids of the open dialogs"}}},
	{CodeClientNotFound, 404, "The task has no CDP client of that id; it may have disconnected.", "Read `GET /v1/tasks/{id}/clients` again.", nil},
	{
		CodeClientBusy, 409, "Another CDP client is on the task, and one of the two wants it exclusively.", "Connect again later, or disconnect the client that `slot` names.",
		[]Detail{{"slot", "the client that is on the task"}, detailWait},
	},
	{
		CodeArtifactNotFound, 404, "The task has no artifact of that id, or its file is gone.", "Read `GET /v1/tasks/{id}/artifacts` again, and make the file anew.",
		[]Detail{{"state", "evicted or missing, where the artifact was there once"}},
	},
	{CodeNoDialog, 409, "No dialog is open.", "Nothing is left to answer. `recent_dialogs` of the snapshot says how the last ones ended.", nil},
	{
		CodeDialogAmbiguous, 409, "Several dialogs are open and the answer names none.", "Name one with `dialog_id`.",
		[]Detail{{"candidates", "the open dialogs"}},
	},
	{
		CodeDialogAlreadyAnswered, 409, "Another answer was first: of another caller, a policy, the watchdog, or another client of the browser.", "Do not answer again; each dialog gets one answer.",
		[]Detail{{"closed_by", "what closed the dialog, where that is still known"}, {"action", "of an agent's question to a person: the answer"}, {"text", "and what the person wrote"}},
	},
	{CodeDialogLost, 410, "Both connections that could answer the dialog ended while it was open.", "Recover the page: `release` keeps it, `reload` and `close` do not.", nil},
	{
		CodeFrameNotOOPIF, 409, "The frame shares the process of its parent, so it has no CDP session of its own.", "Run the command on the page and reach the frame through `contentDocument`.",
		[]Detail{{"parent_frame_id", "the frame that holds it"}},
	},
	{CodeTargetForeign, 403, "The target belongs to another task, or to no task.", "Use a page of this task.", nil},
	{
		CodeBlockedByDialog, 409, "A dialog is open on the page, or opened during the call. The page runs nothing until it is answered. Of a tool: or what it waits for in the page waits for the answer to a blocker.", "Answer the dialog or the blocker, then call again.",
		[]Detail{{"pending_dialogs", "the open dialogs, as in the snapshot"}, {"blockers", "the blocker that the page waits for"}, detailSent},
	},
	{CodePageWedged, 409, "The page does not answer: see `page_state`.", "Recover the page with the action that the message names.", []Detail{detailPage, detailSent}},
	{CodePageCrashed, 409, "The renderer process of the page has crashed.", "Recover with `reload`, or navigate.", []Detail{detailPage, detailSent}},
	{
		CodeCDPError, 502, "The browser refused the command or failed to run it.", "Correct the command: `details.cdp` is the browser's own error.",
		[]Detail{{"cdp", "the error as the browser sent it: code, message, data"}, {"error_text", "why a navigation failed, such as net::ERR_NAME_NOT_RESOLVED"}},
	},
	{CodeStaleRef, 409, "The ref of a snapshot is of an element, a document or a tab that is gone. Nothing was done.", "Take a new snapshot and use its refs.", nil},
	{CodeElementNotFound, 404, "No element of the page matches the selector, or has the role and the name.", "Take a snapshot and use its refs.", nil},
	{
		CodeNotActionable, 409, "The element cannot be acted on: it is hidden, disabled, covered or does not come to rest, or it does not take what was given. Nothing was done.",
		"See `why`. The message names what covers the element.",
		[]Detail{{"why", "hidden, disabled, covered, moving, readonly, or what the element does not take"}, {"options", "the options that a select has"}},
	},
	{
		CodeCheckFailed, 409, "The page is not as browser_qa was to find it: an error, a request that failed, a text or an element that is not shown.",
		"Read what `check` names in detail; the result's data has every check.",
		[]Detail{{"check", "page_errors, console_errors, failed_requests, text or element"}},
	},
	{CodeScriptError, 422, "Script that a tool ran in a page threw an exception.", "Correct the script: the message has the exception.", nil},
	{
		CodeUpstreamUnavailable, 503, "The browser is not connected, the connection ended during the call, the browser could not be started, or the task or the node is ending.",
		"Call again if `details.sent` is false. If it is true, look at the page first: the command may have run. A lost task is started again with `PUT`.",
		[]Detail{
			detailSent,
			{"state", "lost, where the task is"},
			{"overloaded", "true where too many commands wait to be written to the browser"},
			{"after", "the version of the last event that was sent, where a watch over actors has ended"},
			{"checks", "the parts of the node's health, where it is not ready"},
			{"stderr", "the last lines of a browser that did not start"},
			detailTask, detailHint,
		},
	},
	{CodeDeadline, 504, "The call did not end within its timeout.", "Look at the snapshot: what was begun may still end. Then call again with a longer `timeout_s`.", []Detail{detailSent}},
	{CodeMessageTooLarge, 413, "A body, a field or the browser's reply exceeds its bound.", "Send or ask for less at a time.", nil},
	{
		CodeLimitReached, 429, "The node, the tenant or one part of the node is full.", "Wait for `Retry-After` seconds, then call again, or use another node.",
		[]Detail{
			{"reason", "what is full; see LimitReason"},
			{"waiting_for", "what the queue waits for, where reason is queue_full or queue_deadline"},
			{"limit", "the bound that is reached"},
			{"running", "the tasks that have a place"},
			{"queued", "the starts that wait for one"},
			detailWait, detailSent,
		},
	},
	{CodeLeaseLapsed, 503, "The node of a cluster has no lease at the moment, and decides nothing.", "Call again, or ask another node of the cluster.", []Detail{detailWait}},
	{CodeRehoming, 503, "Another node of the cluster has just taken the task, or the node that has it does not answer.", "Call again: every node knows the new one soon.", []Detail{detailWait, detailSent}},
	{CodeNoQuorum, 503, "The store of the cluster does not answer this node.", "Call again, or ask another node of the cluster. Most voters have to run.", []Detail{detailWait}},
	{CodeWrongCluster, 421, "A node asked another one that is of another cluster, of a newer era, or does not have the task. Callers of a node do not meet it.", "Ask a node of this cluster at its address for callers.", nil},
	{CodeInternal, 500, "The node failed in a way that it does not explain to callers.", "Report it with the node's log, which has the reason.", nil},
}

// CodeTable says what each code means, in the contract's order. The result is shared: do
// not write to it.
func CodeTable() []CodeInfo { return codeTable }

// Codes lists every code of the contract, in its order.
func Codes() []Code {
	out := make([]Code, len(codeTable))
	for i, c := range codeTable {
		out[i] = c.Code
	}
	return out
}

// Status is the HTTP status of answers with the code; 500 for one of no contract.
func (c Code) Status() int {
	for i := range codeTable {
		if codeTable[i].Code == c {
			return codeTable[i].Status
		}
	}
	return 500
}
