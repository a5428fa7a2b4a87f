package memory

import (
	"strings"

	"holdfast/actors/session/wanted"
)

// settings are the methods that set something in a session, and that an agent's session
// does not keep: the key of what each sets.
var settings = map[string]string{
	"Page.setLifecycleEventsEnabled":                "Page.lifecycle",
	"Page.startScreencast":                          "Page.screencast",
	"Target.setAutoAttach":                          "Target.autoAttach",
	"Debugger.setPauseOnExceptions":                 "Debugger.exceptions",
	"Debugger.setAsyncCallStackDepth":               "Debugger.depth",
	"Debugger.setBlackboxPatterns":                  "Debugger.blackbox",
	"Debugger.setSkipAllPauses":                     "Debugger.skip",
	"Debugger.setBreakpointsActive":                 "Debugger.active",
	"Debugger.setBreakpoint":                        "Debugger.breakpoint",
	"Debugger.setBreakpointByUrl":                   "Debugger.breakpoint",
	"Debugger.setInstrumentationBreakpoint":         "Debugger.breakpoint",
	"DOMDebugger.setXHRBreakpoint":                  "DOMDebugger.xhr",
	"DOMDebugger.setEventListenerBreakpoint":        "DOMDebugger.listener",
	"EventBreakpoints.setInstrumentationBreakpoint": "EventBreakpoints.instrumentation",
}

// takenBack are the methods that take a setting back.
var takenBack = map[string]string{
	"Page.stopScreencast":                              "Page.screencast",
	"Debugger.removeBreakpoint":                        "Debugger.breakpoint",
	"DOMDebugger.removeXHRBreakpoint":                  "DOMDebugger.xhr",
	"DOMDebugger.removeEventListenerBreakpoint":        "DOMDebugger.listener",
	"EventBreakpoints.removeInstrumentationBreakpoint": "EventBreakpoints.instrumentation",
}

// Methods that set nothing to repeat and that a Session notes.
const (
	methodTree  = "Page.getFrameTree"
	methodWorld = "Page.createIsolatedWorld"
)

// IsKept says whether a Session has to know of a command: see [Session.Prepare] and
// [Session.Succeeded].
func IsKept(method string) bool {
	if wanted.IsKept(method) || method == methodTree || method == methodWorld || settings[method] != "" || takenBack[method] != "" {
		return true
	}
	_, name, _ := strings.Cut(method, ".")
	return name == "enable" || name == "disable"
}
