package quirks

import "strings"

// hangs are the domains and methods that need the page's renderer: with a
// dialog open, or a script that never ends, Chrome leaves them unanswered for
// good (M8, C16). Domain entries end with a dot.
var hangs = map[string]bool{
	"Runtime.": true, "DOM.": true, "DOMSnapshot.": true, "DOMDebugger.": true, "Accessibility.": true,
	"CSS.": true, "Overlay.": true, "Log.": true, "Debugger.": true, "Performance.": true, "Audits.": true,
	"Profiler.": true, "HeapProfiler.": true, "DOMStorage.": true, "Emulation.": true, "Animation.": true,
	"LayerTree.": true, "WebAudio.": true, "EventBreakpoints.": true, "IndexedDB.": true, "CacheStorage.": true,

	"Page.enable": true, "Page.disable": true, "Page.getFrameTree": true, "Page.getResourceTree": true,
	"Page.getResourceContent": true, "Page.searchInResource": true,
	"Page.captureScreenshot": true, "Page.captureSnapshot": true, "Page.printToPDF": true,
	"Page.getLayoutMetrics": true, "Page.addScriptToEvaluateOnNewDocument": true,
	"Page.removeScriptToEvaluateOnNewDocument": true,
	"Page.setBypassCSP":                        true, "Page.setLifecycleEventsEnabled": true, "Page.createIsolatedWorld": true,
	"Page.setInterceptFileChooserDialog": true, "Page.setDocumentContent": true, "Page.getAppManifest": true,
	"Page.getInstallabilityErrors": true,

	"Network.enable": true, "Network.setExtraHTTPHeaders": true,
	"Input.insertText": true, "Memory.getDOMCounters": true, "Target.setAutoAttach": true,
}

// answers are the exceptions to a whole domain in hangs.
var answers = map[string]bool{
	// Answered at once in a page that spins, and the way out of it (section 3).
	"Runtime.terminateExecution": true,
}

// NeedsRenderer says whether Chrome leaves method unanswered while the
// renderer cannot run: under a dialog, or in a script that never ends.
func NeedsRenderer(method string) bool {
	domain, _, _ := strings.Cut(method, ".")
	return hangs[method] || hangs[domain+"."]
}

// provesLife are the domains whose replies come from the renderer's main thread.
// Others have ways around a script that spins (chromium facts, section 3).
var provesLife = map[string]bool{"Runtime": true, "DOM": true, "DOMSnapshot": true, "Accessibility": true, "CSS": true}

// ProvesLife reports whether a result of method says that the renderer answers.
func ProvesLife(method string) bool {
	domain, _, _ := strings.Cut(method, ".")
	return provesLife[domain] && !answers[method]
}

// IsInput tells the commands that a dialog can hold up although they are not
// the renderer's: a click whose handler opens a dialog is answered when the
// dialog is.
func IsInput(method string) bool { return strings.HasPrefix(method, "Input.") }

// WorksWhenHung says whether a renderer that spins is not in method's way
// even though it belongs to the renderer. A reload is accepted and never comes
// to pass, and holds up what would (measured): it takes a recovery.
func WorksWhenHung(method string) bool {
	return answers[method] || !NeedsRenderer(method) && method != "Page.reload"
}

// losesDialog are the commands that close an open dialog with "no" on their
// way (M9), or end the browser under that of a frame (C60). No caller decided that,
// so they are refused while one is open.
var losesDialog = map[string]bool{
	"Page.navigate": true, "Page.reload": true, "Page.navigateToHistoryEntry": true, "Page.crash": true,
}

// revives are the commands that a crashed page still understands (M13).
var revives = map[string]bool{
	"Page.navigate": true, "Page.reload": true, "Page.navigateToHistoryEntry": true, "Page.close": true,
	"Inspector.enable": true,
}

// LosesDialog says whether method would close an open dialog by itself.
func LosesDialog(method string) bool { return losesDialog[method] }

// endsPause are the commands that let a page go on that waits in the debugger for
// the answer to a bridged dialog.
var endsPause = map[string]bool{
	"Debugger.disable": true, "Debugger.resume": true, "Debugger.stepInto": true, "Debugger.stepOut": true,
	"Debugger.stepOver": true, "Debugger.continueToLocation": true, "Debugger.restartFrame": true,
	"Runtime.terminateExecution": true,
}

// disarmsBridge are the commands that change what the bridge shares with the agents,
// the session's debugger and what it intercepts.
var disarmsBridge = map[string]bool{
	"Debugger.disable": true, "Debugger.setBlackboxPatterns": true, "Debugger.setBlackboxExecutionContexts": true,
	"Debugger.setSkipAllPauses": true, "Debugger.setBreakpointsActive": true,
	"Fetch.enable": true, "Fetch.disable": true,
}

// DisarmsBridge says whether the bridge has to be set up anew after method.
func DisarmsBridge(method string) bool { return disarmsBridge[method] }

// EndsPause says whether method would answer a bridged dialog with nothing.
func EndsPause(method string) bool { return endsPause[method] }

// WorksWhenCrashed says whether method makes sense on a crashed page.
func WorksWhenCrashed(method string) bool {
	domain, _, _ := strings.Cut(method, ".")
	return revives[method] || domain == "Target" || domain == "Browser" || domain == "Storage"
}

// losesInChrome are the commands that lose something the way Chrome carries them out: a
// page that closes under a dialog ends the browser (C15, C60), one that is created with
// its URL loads unwatched (C30), an answer names no dialog (M7), and the list of targets
// shows those of others (demand 12).
var losesInChrome = map[string]bool{
	"Page.close": true, "Page.handleJavaScriptDialog": true,
	"Target.createTarget": true, "Target.closeTarget": true, "Target.getTargets": true,
}

// LosesInChrome reports whether the node has to carry out method in its own way.
func LosesInChrome(method string) bool { return losesInChrome[method] }
