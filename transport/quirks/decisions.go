package quirks

import "strings"

// decides are the commands of the node's own by which a task's page or browser comes to be
// another: what answers a dialog, navigates, opens, closes, frees or recovers a page.
var decides = map[string]bool{
	"Page.handleJavaScriptDialog": true, "Page.navigate": true, "Page.reload": true, "Page.navigateToHistoryEntry": true,
	"Page.close": true, "Page.crash": true, "Page.stopLoading": true, "Page.bringToFront": true,
	"Target.createTarget": true, "Target.closeTarget": true, "Target.activateTarget": true,
	"Target.createBrowserContext": true, "Target.disposeBrowserContext": true,
	"Browser.close": true, "Runtime.terminateExecution": true,
	// They give a bridged dialog its answer.
	"Debugger.evaluateOnCallFrame": true, "Fetch.fulfillRequest": true,
}

// IsDecision says whether a command of the node's own decides something for a page or the
// browser. What attaches, observes, enables, resumes, or sets up a session does not.
func IsDecision(method string) bool { return decides[method] }

// observes are the commands that change nothing in a page: beside those whose name says so.
var observes = map[string]bool{
	"Runtime.runIfWaitingForDebugger": true, "Runtime.releaseObject": true, "Runtime.releaseObjectGroup": true,
	"Target.setAutoAttach": true, "Target.autoAttachRelated": true, "Target.setDiscoverTargets": true,
	"Target.attachToTarget": true, "Target.attachToBrowserTarget": true, "Target.detachFromTarget": true,
	"Page.captureScreenshot": true, "Page.captureSnapshot": true, "Page.setLifecycleEventsEnabled": true,
	"DOMSnapshot.captureSnapshot": true, "DOM.describeNode": true, "DOM.resolveNode": true, "DOM.requestNode": true, "DOM.requestChildNodes": true,
	"Accessibility.queryAXTree": true, "DOM.querySelector": true, "DOM.querySelectorAll": true,
}

// reachesPage are the commands to enable a domain that make a page wait for their session.
var reachesPage = map[string]bool{"Fetch.enable": true, "Debugger.enable": true}

// IsObservation says whether a command of a caller's changes nothing in a page or the browser. A
// method that is not known does.
func IsObservation(method string) bool {
	_, name, _ := strings.Cut(method, ".")
	switch {
	case reachesPage[method]:
		return false
	case observes[method], name == "enable":
		return true
	}
	rest, ok := strings.CutPrefix(name, "get")
	return ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z'
}
