package api

import (
	"net/http"
	"slices"

	"holdfast/messages"
)

// The codes that several routes share.
var (
	// ofTask are those of every call that a task has to carry out.
	ofTask = []messages.Code{
		messages.CodeTaskNotFound, messages.CodeUpstreamUnavailable, messages.CodeDeadline, messages.CodeLimitReached,
	}
	// ofPage are those of calls that a page has to carry out.
	ofPage = append(slices.Clone(ofTask),
		messages.CodeTargetNotFound, messages.CodeTargetForeign, messages.CodeBlockedByDialog, messages.CodePageWedged, messages.CodePageCrashed, messages.CodeCDPError)
	// ofStart are those of a start.
	ofStart = []messages.Code{
		messages.CodeTargetNotFound, messages.CodeTargetForeign, messages.CodeCDPError,
		messages.CodeUpstreamUnavailable, messages.CodeDeadline, messages.CodeLimitReached,
	}
	// ofAnswer are those of an answer to a dialog.
	ofAnswer = []messages.Code{
		messages.CodeDialogNotFound, messages.CodeNoDialog, messages.CodeDialogAmbiguous, messages.CodeDialogAlreadyAnswered, messages.CodeDialogLost,
		messages.CodePageWedged, messages.CodePageCrashed, messages.CodeCDPError,
	}
)

// ofOperator are those of an operator's work on the cluster.
var ofOperator = []messages.Code{messages.CodeNotFound, messages.CodeNoQuorum, messages.CodeRehoming, messages.CodeWrongCluster}

// gatewayCodes are those of the CDP endpoint.
var gatewayCodes = []messages.Code{
	messages.CodeTaskNotFound, messages.CodeTargetNotFound, messages.CodeClientBusy, messages.CodeNotFound, messages.CodeCDPError,
	messages.CodeUpstreamUnavailable, messages.CodeDeadline, messages.CodeLimitReached,
}

// mcpQuery are the parameters of an MCP client's address.
var mcpQuery = []param{
	{name: "task", kind: "string", about: "the task of tools that are given none; by default one of the client's own, or that of the token"},
	{name: "tools", kind: "string", about: "`core` (default), `all`, or names of tools with commas between them"},
	{name: "profile", kind: "string", about: "the tools of another system: `hermes`, `playwright` or `omp`"},
}

// localParam asks for one node of a cluster alone.
var localParam = param{name: "local", kind: "boolean", about: "`true`: only what this node has, where it is part of a cluster"}

// started are the answers of the routes that start a task.
var started = []answer{
	{status: http.StatusCreated, about: "the task has started; Location names it", body: messages.Snapshot{}},
	{status: http.StatusOK, about: "the task was running", body: messages.Snapshot{}},
}

func one(status int, about string, body any) []answer {
	return []answer{{status: status, about: about, body: body}}
}

// The contract's routes.
var routes = []route{
	{
		method: "PUT", path: "/v1/tasks/{id}", class: "life", serve: (*Handler).putTask,
		about: about{
			summary: "Start a task, or get the one that runs",
			text: "The call is idempotent. It waits until the task is attached to its browser, or until no place came free in time.\n\n" +
				"A running task keeps what the body leaves out. Another `cdp_url`, `launch`, `scope`, `target_id` or `isolation` starts it anew on those pages: nothing of its state is kept.",
			body: messages.TaskSpec{}, isBodyOptional: true, answers: started, codes: ofStart,
		},
	},
	{
		method: "POST", path: "/v1/tasks", access: byToken, class: "life", serve: (*Handler).newTask,
		about: about{
			summary: "Start a task under an id that the node makes up",
			text:    "A token of one task is refused; with a tenant's token the id begins with the tenant's name and a colon.",
			body:    messages.TaskSpec{}, isBodyOptional: true, answers: started[:1], codes: ofStart,
		},
	},
	{
		method: "GET", path: "/v1/tasks", access: byToken, class: "read", serve: (*Handler).listTasks,
		query: []param{
			{name: "label", kind: "string", about: "`KEY=VALUE`: only tasks with this label; several have to match all", canRepeat: true},
			localParam,
		},
		about: about{
			summary: "List the tasks that the token covers",
			text:    "Tasks that have ended are listed as `lost` or `stopped` until a thousand newer ones have ended.",
			answers: one(http.StatusOK, "the tasks, by id", messages.TaskList{}),
		},
	},
	{
		method: "GET", path: "/v1/tasks/{id}", class: "read", serve: (*Handler).getTask,
		about: about{
			summary: "Show a task", text: "The same as its snapshot without parameters.",
			answers: one(http.StatusOK, "its state", messages.Snapshot{}), codes: []messages.Code{messages.CodeTaskNotFound},
		},
	},
	{
		method: "DELETE", path: "/v1/tasks/{id}", class: "life", doesNotRenew: true, serve: (*Handler).deleteTask,
		about: about{
			summary: "Stop a task",
			text: "The call waits until its browser is released. A task that does not run is no error.\n\n" +
				"The task closes the tabs that it opened. Dialogs that are still open on pages that stay are dismissed, because after the end nothing could answer them. " +
				"Dialogs of out-of-process frames are dismissed too, because Chrome crashes if such a page is closed while a client is attached.",
			answers: one(http.StatusNoContent, "the task does not run", nil),
			codes:   []messages.Code{messages.CodeUpstreamUnavailable, messages.CodeDeadline, messages.CodeLimitReached},
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/restart", class: "life", serve: (*Handler).restartTask,
		about: about{
			summary: "Start a task that is lost or stopped as it was started before",
			text:    "The caller need not know the address of its browser.",
			answers: started, codes: append(slices.Clone(ofStart), messages.CodeTaskNotFound),
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/renew", class: "life", doesNotRenew: true, serve: (*Handler).renewTask,
		about: about{
			summary: "Put off the idle timeout of a task",
			text:    "Every other request that names the task in its path does so too, but `DELETE`.",
			answers: one(http.StatusNoContent, "done", nil), codes: []messages.Code{messages.CodeTaskNotFound},
		},
	},
	{
		method: "GET", path: "/v1/tasks/{id}/snapshot", class: "read", serve: (*Handler).snapshot,
		query: []param{
			{name: "target_id", kind: "string", about: "the page whose `frame_tree` is wanted; by default the current one"},
			{name: "full", kind: "boolean", about: "lifts the bounds of the frame tree"},
		},
		about: about{
			summary: "Show the state of a task from memory",
			text:    "The call never waits for the browser, whatever its pages do.",
			answers: one(http.StatusOK, "the state", messages.Snapshot{}),
			codes:   []messages.Code{messages.CodeTaskNotFound, messages.CodeTargetNotFound},
		},
	},
	{
		method: "GET", path: "/v1/tasks/{id}/events", class: "events", allowsQueryToken: true, isStream: true, serve: (*Handler).events,
		about: about{
			summary: "Follow a task by server-sent events",
			text: "Each state change is one event; its `event:` is the type, its `id:` the version. A stream begins with `reset`, which holds the whole state, " +
				"and ends when the task has ended. A comment every 15 s shows that the connection stands. A reader that takes nothing for 30 s is dropped.",
			headers: []param{{name: "Last-Event-ID", kind: "integer", about: "the version of the last event that was seen: the stream resumes after it, or begins with `reset` where the events after it are gone"}},
			answers: []answer{{status: http.StatusOK, about: "the events", kind: "text/event-stream"}},
			events:  taskEvents(),
			codes:   []messages.Code{messages.CodeTaskNotFound, messages.CodeLimitReached},
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/dialog", class: "dialog", serve: (*Handler).dialog,
		about: about{
			summary: "Answer a dialog",
			text:    "Each dialog gets at most one answer. The call waits until the dialog is closed. `closed_by` says whose answer it was.",
			body:    messages.DialogAnswer{}, answers: one(http.StatusOK, "the closed dialog", messages.DialogReply{}),
			codes: append(slices.Clone(ofTask), ofAnswer...),
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/blocker", class: "dialog", serve: (*Handler).blocker,
		about: about{
			summary: "Answer a blocker",
			text: "A permission is granted or denied, and the page that waits for it continues. A person answers an agent's question with `by: human`. " +
				"Of any other blocker only the record is closed: the tool `browser_blocker` does what it takes.",
			body: messages.BlockerAnswer{}, answers: one(http.StatusOK, "the blocker that has ended", messages.BlockerReply{}),
			codes: append(slices.Clone(ofTask), messages.CodeNotFound, messages.CodeDialogAlreadyAnswered, messages.CodeForbidden),
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/navigate", class: "drive", serve: (*Handler).navigate,
		about: about{
			summary: "Send a page to a URL",
			text: "The call waits for `wait_until`. A dialog that opens meanwhile ends it at once with `blocked_by_dialog`: answer the dialog, and the page loads on. " +
				"A task without a page gets one.",
			body: messages.NavigateRequest{}, answers: one(http.StatusOK, "where the page is", messages.NavigateResult{}), codes: ofPage,
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/cdp", class: "drive", serve: (*Handler).cdp,
		about: about{
			summary: "Run one raw CDP command",
			text:    "[raw-cdp.md](raw-cdp.md) lists the methods that are refused. `Page.handleJavaScriptDialog` is taken as an answer to the page's dialog.",
			body:    messages.CDPRequest{}, answers: one(http.StatusOK, "the browser's result", messages.CDPResult{}),
			codes: slices.Concat(ofPage, ofAnswer, []messages.Code{messages.CodeFrameNotFound, messages.CodeFrameNotOOPIF}),
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/recover", class: "drive", serve: (*Handler).recover,
		about: about{
			summary: "Recover a page that does not answer",
			text:    "[recovery.md](recovery.md) says which action helps in which state. A recovery is refused when it is not needed: on a page that answers, or while a dialog can still be answered.",
			body:    messages.RecoverRequest{}, answers: one(http.StatusOK, "the page after the recovery", messages.RecoverResult{}), codes: ofPage,
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/chaos", class: "drive", serve: (*Handler).chaos,
		about: about{
			summary: "Break connections of a task on purpose",
			text:    "Only on a node that was started with `--allow-chaos`.",
			body:    messages.KillRequest{}, answers: one(http.StatusOK, "the connections that were broken", messages.KillResult{}), codes: ofTask,
		},
	},
	{
		method: "GET", path: "/v1/tasks/{id}/clients", class: "read", serve: (*Handler).clients,
		about: about{
			summary: "List the CDP clients of a task",
			answers: one(http.StatusOK, "the clients that are connected", messages.ClientList{}), codes: []messages.Code{messages.CodeTaskNotFound},
		},
	},
	{
		method: "DELETE", path: "/v1/tasks/{id}/clients/{client_id}", class: "life", doesNotRenew: true, serve: (*Handler).disconnectClient,
		about: about{
			summary: "Disconnect a CDP client of a task",
			text:    "Its connection ends with the close code 4001. The pages stay.",
			answers: one(http.StatusNoContent, "it is disconnected", nil), codes: []messages.Code{messages.CodeTaskNotFound, messages.CodeClientNotFound},
		},
	},
	{
		method: "POST", path: "/mcp", access: byToken, class: "events", isStream: true, query: mcpQuery, serve: (*Handler).mcp,
		about: about{
			summary: "One message of the Model Context Protocol",
			text:    "Streamable HTTP without sessions: see [MCP](mcp.md). The answer is JSON-RPC, as JSON or as server-sent events; an error of ours is one of a request that the gate or the address has refused.",
			answers: []answer{
				{status: http.StatusOK, about: "the answer, and what is told meanwhile", kind: "text/event-stream"},
				{status: http.StatusAccepted, about: "a notification was taken"},
			},
			codes: []messages.Code{messages.CodeNotFound, messages.CodeMessageTooLarge, messages.CodeLimitReached},
		},
	},
	{
		method: "DELETE", path: "/mcp", access: byToken, class: "life", query: mcpQuery, serve: (*Handler).mcp,
		about: about{
			summary: "Say goodbye as an MCP client",
			text:    "The task that was made for the client, which the header `Mcp-Session-Id` names, ends. One that the client has named itself, or that its token is for, stays.",
			answers: one(http.StatusNoContent, "done", nil),
			codes:   []messages.Code{messages.CodeNotFound, messages.CodeUpstreamUnavailable, messages.CodeDeadline, messages.CodeLimitReached},
		},
	},
	{
		method: "GET", path: "/cdp/{id}", class: "events", isStream: true, isCDP: true, serve: (*Handler).cdpEndpoint,
		about: about{
			summary: "The CDP endpoint of a task, for any CDP client",
			text: "A WebSocket with flat sessions, as a browser's own. See [the gateway](gateway.md). The token may be given as `?token=`.\n\n" +
				"Parameters: `client`, a name; `dialogs`, one of `holdfast`, `client` and `observe`; `mode`, `shared` or `exclusive`; `start=1` starts the task with its defaults; `ping=1` says that the client takes pings.",
			answers: []answer{{status: http.StatusSwitchingProtocols, about: "the connection"}},
			codes:   gatewayCodes,
		},
	},
	{
		method: "GET", path: "/cdp/{id}/{rest...}", class: "events", isStream: true, isCDP: true, serve: (*Handler).cdpEndpoint,
		about: about{
			summary: "Discovery of a task's pages, and its CDP endpoint under other paths",
			text: "`json/version`, `json`, `json/list`, `json/protocol`, `json/activate/{target}` and `json/close/{target}` answer as a browser does, for this task alone. " +
				"`devtools/browser/{anything}` is the endpoint, and `devtools/page/{target}` that of one page. Asked with `?token=`, the addresses carry a ticket, which is good once and for 30 s.",
			answers: []answer{{status: http.StatusOK, about: "as a browser answers", kind: "application/json"}, {status: http.StatusSwitchingProtocols, about: "the connection"}},
			codes:   gatewayCodes,
		},
	},
	{
		method: "PUT", path: "/cdp/{id}/json/new", class: "life", isCDP: true, serve: (*Handler).cdpEndpoint,
		about: about{
			summary: "Open a page of a task, as a browser's own route does",
			text:    "The query is the URL, and `about:blank` where there is none.",
			answers: []answer{{status: http.StatusOK, about: "the page", kind: "application/json"}},
			codes:   gatewayCodes,
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/tools/{tool}", class: "drive", serve: (*Handler).callTool,
		about: about{
			summary: "Run a tool on a task",
			text: "The body is the tool's input; [tools.md](tools.md) lists the tools. A failure is answered with its code's status, and its body is a `ToolResult` as well: " +
				"`error` is what it is everywhere, and `next_actions` says what helps.",
			body: messages.ToolInput{}, isBodyOptional: true, answers: one(http.StatusOK, "what the tool did", messages.ToolResult{}),
			codes: slices.Concat(ofPage, ofAnswer, []messages.Code{messages.CodeNotFound, messages.CodeStaleRef, messages.CodeElementNotFound, messages.CodeNotActionable, messages.CodeCheckFailed, messages.CodeScriptError, messages.CodeFrameNotFound, messages.CodeFrameNotOOPIF}),
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/batch", class: "drive", serve: (*Handler).batch,
		about: about{
			summary: "Run several tools on a task, one after the other",
			text: "The answer is 200 whatever became of the steps: `ok` says whether each did what it was asked for.\n\n" +
				"A step that uses refs of a snapshot is blocked, with `stale_ref`, after a step that may have changed the page; a `browser_snapshot` between the two clears that. " +
				"Filling fields does not count as a change.",
			body: messages.BatchRequest{}, answers: one(http.StatusOK, "what became of each step", messages.BatchResult{}), codes: []messages.Code{messages.CodeTaskNotFound},
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/run", class: "drive", serve: (*Handler).runScript,
		about: about{
			summary: "Run a script beside a page",
			text: "JavaScript in a sandbox, with Puppeteer's `page` and `browser`, and the tools as `tab`: see [run.md](run.md). It is the tool `browser_run`, " +
				"and `data` of its result has `output`, `value` and `console`, of a script that failed too.",
			body: messages.RunRequest{}, answers: one(http.StatusOK, "what the script did", messages.ToolResult{}),
			codes: slices.Concat(ofPage, []messages.Code{messages.CodeScriptError, messages.CodeLimitReached, messages.CodeClientBusy}),
		},
	},
	{
		method: "GET", path: "/v1/tasks/{id}/artifacts", class: "read", serve: (*Handler).listArtifacts,
		about: about{
			summary: "List the files of a task",
			text: "Screenshots, PDFs, downloads, uploads, and output that was too long for an answer: the last hundred. Each is compared with its file: `live` is there, " +
				"`evicted` had to go for newer ones, `missing` is gone or has changed. They outlive the task and a restart of the node.",
			answers: one(http.StatusOK, "the files, oldest first", messages.ArtifactList{}), codes: []messages.Code{messages.CodeTaskNotFound, messages.CodeNotFound},
		},
	},
	{
		method: "GET", path: "/v1/tasks/{id}/artifacts/{artifact_id}", class: "read", serve: (*Handler).getArtifact,
		about: about{
			summary: "Get a file of a task",
			text:    "The bytes, with their own type. They are hashed before the first one is sent: the `ETag` is their SHA-256. `Range` is taken. What a page made is not to be trusted.",
			answers: []answer{{status: http.StatusOK, about: "the bytes", kind: "application/octet-stream"}},
			codes:   []messages.Code{messages.CodeArtifactNotFound, messages.CodeNotFound},
		},
	},
	{
		method: "POST", path: "/v1/tasks/{id}/artifacts", class: "life", serve: (*Handler).putArtifact,
		query: []param{{name: "name", kind: "string", about: "the name of the file"}},
		about: about{
			summary: "Send a file to a task",
			text:    "The body is the file, of any type, up to 64 MiB. `browser_file_upload` gives it to a page by its `artifact_id`.",
			answers: one(http.StatusCreated, "the file; Location names it", messages.ArtifactReply{}),
			codes:   []messages.Code{messages.CodeTaskNotFound, messages.CodeNotFound, messages.CodeMessageTooLarge, messages.CodeLimitReached},
		},
	},
	{
		method: "GET", path: "/v1/tools", access: byToken, class: "read", serve: (*Handler).listTools,
		about: about{
			summary: "List the tools", text: "Names, JSON schemas and hints; the same over every door.",
			answers: one(http.StatusOK, "the tools", messages.ToolList{}),
		},
	},
	{
		method: "GET", path: "/v1/tree", access: byToken, class: "read", serve: (*Handler).tree,
		query: []param{
			{name: "task_id", kind: "string", about: "the only task to show"},
			{name: "depth", kind: "integer", about: "levels below the registry, 1 to 16; by default all"},
			localParam,
		},
		about: about{
			summary: "Show the supervision tree",
			text:    "Every actor, its state and its restarts, as far as the token covers their tasks.",
			answers: one(http.StatusOK, "the tree", messages.Tree{}),
		},
	},
	{
		method: "GET", path: "/v1/live", access: byToken, class: "events", isStream: true, serve: (*Handler).live,
		query: []param{{name: "task_id", kind: "string", about: "a task to follow in full"}},
		about: about{
			summary: "Follow the node and all its tasks by server-sent events",
			text: "The live page is built on this stream. Changes are sent five times a second. A slow reader may skip states but always gets the latest, and need not resume. " +
				"Watching does not count as use of a task.",
			answers: []answer{{status: http.StatusOK, about: "the events", kind: "text/event-stream"}},
			events: []streamed{
				{"node", "the node itself", messages.NodeStatus{}},
				{"tasks", "tasks that are new, have changed or are gone; the first event has all", messages.LiveTasks{}},
				{"task", "the followed task", messages.LiveTask{}},
				{"tree", "the actors of the followed task", messages.Tree{}},
				{"clients", "the CDP clients of the followed task, once it has had one", messages.LiveClients{}},
			},
			codes: []messages.Code{messages.CodeLimitReached},
		},
	},
	{
		method: "GET", path: "/v1/cluster", access: byToken, class: "read", serve: (*Handler).showCluster,
		about: about{
			summary: "Show the cluster that the node is part of",
			text:    "What this node knows of the others; it asks none. The answer names no task, so any token may read it. See [the cluster](cluster.md).",
			answers: one(http.StatusOK, "the nodes", messages.Cluster{}), codes: []messages.Code{messages.CodeNotFound},
		},
	},
	{
		method: "GET", path: "/v1/cluster/snapshot", access: byToken, class: "read", isStream: true, serve: (*Handler).snapshotCluster,
		about: about{
			summary: "Copy the cluster's store",
			text:    "Only with the admin token. The bytes are what `etcdctl snapshot save` writes: the database, and its SHA-256. `holdfast cluster restore` reads them. A store that others run is copied with its own tools.",
			answers: []answer{{status: http.StatusOK, about: "the copy", kind: "application/octet-stream"}},
			codes:   ofOperator,
		},
	},
	{
		method: "POST", path: "/v1/cluster/recover", access: byToken, class: "life", serve: (*Handler).recoverCluster,
		about: about{
			summary: "Go on with this voter alone, after a majority of voters is lost for good",
			text: "Only with the admin token, and only with `i_am_the_last`: the caller says that no other voter runs, or ever will with what it has. " +
				"This node's copy becomes the store, and a new era begins: what other voters alone had is lost, and nodes that still follow them decide nothing once they hear of it.",
			body: messages.ClusterRecovery{}, answers: one(http.StatusOK, "the new era", messages.ClusterEra{}), codes: ofOperator,
		},
	},
	{
		method: "POST", path: "/v1/cluster/voters/{node}/replace", access: byToken, class: "life", serve: (*Handler).replaceVoter,
		about: about{
			summary: "Give the place of a voter that has lost its data to one without data",
			text:    "Only with the admin token. The voter must not run. Afterwards a node of that name starts with an empty directory, copies the store, and then has a vote.",
			answers: one(http.StatusNoContent, "its place is free", nil), codes: ofOperator,
		},
	},
	{
		method: "PUT", path: "/v1/cluster/nodes/{node}/cordon", access: byToken, class: "life", serve: (*Handler).cordon,
		about: about{
			summary: "Keep new tasks from a node",
			text:    "Only with the admin token; any node passes it on. The tasks that the node has stay. It lasts over restarts, until `DELETE`.",
			answers: one(http.StatusNoContent, "the node takes no new tasks", nil), codes: ofOperator,
		},
	},
	{
		method: "DELETE", path: "/v1/cluster/nodes/{node}/cordon", access: byToken, class: "life", serve: (*Handler).cordon,
		about: about{
			summary: "Let a node take new tasks again", text: "Only with the admin token.",
			answers: one(http.StatusNoContent, "the node takes new tasks", nil), codes: ofOperator,
		},
	},
	{
		method: "POST", path: "/v1/cluster/nodes/{node}/drain", access: byToken, class: "life", serve: (*Handler).emptyNode,
		about: about{
			summary: "Give the tasks of a node to others",
			text: "Only with the admin token; any node passes it on. The node is cordoned, and gives away eight tasks at a time, each as soon as no call is under way at it and no dialog is open. " +
				"Calls wait meanwhile for the next node. The answer comes once no task is left that can move, or after 50 s. A task whose browser the node has launched stays.",
			answers: one(http.StatusOK, "what has moved, and what stays", messages.ClusterMoves{}), codes: ofOperator,
		},
	},
	{
		method: "POST", path: "/v1/cluster/nodes/{node}/rebalance", access: byToken, class: "life", serve: (*Handler).rebalanceNode,
		about: about{
			summary: "Give tasks of a node to the nodes on which they would be placed now", text: "Only with the admin token. As a drain, of these tasks alone.",
			answers: one(http.StatusOK, "what has moved, and what the node has still", messages.ClusterMoves{}), codes: ofOperator,
		},
	},
	{
		method: "GET", path: "/v1/pressure", access: byToken, class: "read", serve: (*Handler).pressure, query: []param{localParam},
		about: about{
			summary: "Show how close the node is to its limits", text: "The answer names no task, so any token may read it.",
			answers: one(http.StatusOK, "the load", messages.Pressure{}),
		},
	},
	{
		method: "POST", path: "/v1/drain", access: byToken, class: "life", serve: (*Handler).drain,
		about: about{
			summary: "End the node in good order", text: "As SIGTERM does. Only with the admin token.",
			answers: one(http.StatusAccepted, "the node has begun to end", messages.Draining{}),
		},
	},
	{
		method: "POST", path: "/v1/codes", access: byToken, class: "life", serve: (*Handler).newCode,
		about: about{
			summary: "Get a code that opens one session of the live page",
			text:    "It works once and for a minute. The session covers what the caller's token covers.",
			answers: one(http.StatusCreated, "the code", messages.LoginCode{}),
		},
	},
	{
		method: "POST", path: "/v1/session", access: open, class: "life", serve: (*Handler).newSession,
		about: about{
			summary: "Exchange a code for a token that expires", text: "No token is needed: the code takes its place.",
			body: messages.SessionRequest{}, answers: one(http.StatusCreated, "the token", messages.Session{}), codes: []messages.Code{messages.CodeUnauthorized},
		},
	},
	{
		method: "GET", path: "/v1/openapi.json", access: byToken, class: "read", serve: (*Handler).openAPI,
		about: about{
			summary: "This reference as an OpenAPI 3.1 document",
			answers: []answer{{status: http.StatusOK, about: "the document", kind: "application/json"}},
		},
	},
	{
		method: "GET", path: "/livez", access: open, class: "health", serve: (*Handler).livez,
		about: about{
			summary: "Say whether the node is alive", text: "503 means that its own actors do not answer within a second, and that a restart helps. Nothing that a page or a browser does shows here.",
			answers: one(http.StatusOK, "alive", messages.Health{}), codes: []messages.Code{messages.CodeUpstreamUnavailable},
		},
	},
	{
		method: "GET", path: "/readyz", access: open, class: "health", serve: (*Handler).readyz,
		about: about{
			summary: "Say whether the node takes new tasks",
			text:    "503 means that a start would be refused now; tasks that run are not concerned. The checks `memory` and `browser` are informational.",
			answers: one(http.StatusOK, "ready", messages.Health{}), codes: []messages.Code{messages.CodeUpstreamUnavailable},
		},
	},
}

// metricsRoute is added where the node serves its metrics on the same address.
var metricsRoute = route{
	method: "GET", path: "/metrics", access: open, class: "health", serve: (*Handler).metrics,
	about: about{
		summary: "Prometheus metrics",
		text:    "Served where no `metrics_listen` is set; [metrics.md](metrics.md) lists them.",
		answers: []answer{{status: http.StatusOK, about: "the metrics", kind: "text/plain"}},
	},
}

// taskEvents are the events of a task's stream, one for each type.
func taskEvents() []streamed {
	var out []streamed
	for _, e := range messages.EventTable() {
		out = append(out, streamed{string(e.Type), e.About, messages.Event{}})
	}
	return out
}
