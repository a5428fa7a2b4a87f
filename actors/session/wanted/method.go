package wanted

import (
	"encoding/json"
	"strings"
)

// IsKept says whether method sets, or takes back, something that outlives its
// reply and not its session.
func IsKept(method string) bool {
	_, ok := ruleOf(method)
	return ok
}

// rule says what a method does to what is kept.
type rule struct {
	act act
	// slot is what is set: of two commands with one slot the later counts. by
	// names the parameters that tell apart several of a kind.
	slot string
	by   []string
}

type act uint8

const (
	set       act = iota // keep it, in the place of what has its slot
	clear                // drop what has its slot
	enable               // as set; comes before all that is not
	disable              // drop all of the domain: the browser does
	addScript            // keep it, under an identifier of its own
	removeScript
	resetPermissions // drop them all
)

// domains are those that an agent may enable. Holdfast enables Page, Runtime, Inspector and
// Target itself; Debugger and Fetch would stop pages that no client resumes; Profiler,
// HeapProfiler and Tracing record; the objects of WebAuthn and FedCm would come back empty.
var domains = map[string]bool{
	"Accessibility": true, "Animation": true, "Audits": true, "Autofill": true, "CSS": true, "DOM": true, "DOMStorage": true,
	"DeviceAccess": true, "IndexedDB": true, "LayerTree": true, "Log": true, "Media": true, "Network": true, "Overlay": true,
	"Performance": true, "PerformanceTimeline": true, "Preload": true, "Security": true, "ServiceWorker": true, "WebAudio": true,
}

// rules are the methods that the naming of the protocol does not tell. The
// measured behaviour is in internal/facts.
var rules = map[string]rule{
	addMethod:    {act: addScript},
	removeMethod: {act: removeScript},

	"Page.setAdBlockingEnabled": {}, "Page.setBypassCSP": {}, "Page.setDownloadBehavior": {},
	"Page.setFontFamilies": {}, "Page.setFontSizes": {}, "Page.setInterceptFileChooserDialog": {},
	"Page.setPrerenderingAllowed": {}, "Page.setRPHRegistrationMode": {}, "Page.setSPCTransactionMode": {},
	// The older names of what Emulation sets.
	"Page.setDeviceMetricsOverride":                    {slot: "Emulation.DeviceMetricsOverride"},
	"Page.clearDeviceMetricsOverride":                  {act: clear, slot: "Emulation.DeviceMetricsOverride"},
	"Page.setGeolocationOverride":                      {slot: "Emulation.GeolocationOverride"},
	"Page.clearGeolocationOverride":                    {act: clear, slot: "Emulation.GeolocationOverride"},
	"Page.setDeviceOrientationOverride":                {slot: "DeviceOrientation"},
	"Page.setTouchEmulationEnabled":                    {slot: "Emulation.TouchEmulationEnabled"},
	"DeviceOrientation.setDeviceOrientationOverride":   {slot: "DeviceOrientation"},
	"DeviceOrientation.clearDeviceOrientationOverride": {act: clear, slot: "DeviceOrientation"},
	"Page.clearDeviceOrientationOverride":              {act: clear, slot: "DeviceOrientation"},

	"Network.setExtraHTTPHeaders": {}, "Network.setCacheDisabled": {}, "Network.setBypassServiceWorker": {},
	"Network.setBlockedURLs": {}, "Network.setAcceptedEncodings": {slot: "Network.AcceptedEncodings"},
	"Network.clearAcceptedEncodingsOverride": {act: clear, slot: "Network.AcceptedEncodings"},
	"Network.setAttachDebugStack":            {}, "Network.setCookieControls": {},
	"Network.emulateNetworkConditions": {}, "Network.emulateNetworkConditionsByRule": {}, "Network.overrideNetworkState": {},
	"Network.setUserAgentOverride":   {slot: "UserAgentOverride"},
	"Emulation.setUserAgentOverride": {slot: "UserAgentOverride"},

	"Emulation.setSensorOverrideEnabled":         {by: []string{"type"}},
	"Emulation.setSensorOverrideReadings":        {by: []string{"type"}},
	"Emulation.setPressureSourceOverrideEnabled": {by: []string{"source"}},
	"Emulation.setPressureStateOverride":         {by: []string{"source"}},
	"Emulation.setPressureDataOverride":          {by: []string{"source"}},

	"Animation.setPlaybackRate": {}, "Log.startViolationsReport": {}, "Log.stopViolationsReport": {act: clear, slot: "Log.startViolationsReport"},
	"Performance.setTimeDomain": {}, "Security.setIgnoreCertificateErrors": {}, "ServiceWorker.setForceUpdateOnPageLoad": {},
	"Runtime.addBinding": {slot: "Runtime.binding", by: []string{"name"}}, "Runtime.removeBinding": {act: clear, slot: "Runtime.binding", by: []string{"name"}},
	"Runtime.setAsyncCallStackDepth": {}, "Runtime.setCustomObjectFormatterEnabled": {}, "Runtime.setMaxCallStackSizeToCapture": {},

	// Of the browser, and gone with the connection: measured.
	"Browser.grantPermissions":    {slot: permission, by: []string{"origin", "browserContextId"}},
	"Browser.setPermission":       {slot: permission, by: []string{"permission", "origin", "embeddedOrigin", "browserContextId"}},
	"Browser.resetPermissions":    {act: resetPermissions, by: []string{"browserContextId"}},
	"Browser.setDownloadBehavior": {by: []string{"browserContextId"}},
}

const permission = "Browser.permission"

// acting are the methods of Emulation that are named like settings and are
// none: they act on the page, or on its clock, the moment they come.
var acting = map[string]bool{
	"Emulation.setPageScaleFactor": true, "Emulation.setVirtualTimePolicy": true,
}

func ruleOf(method string) (rule, bool) {
	if r, ok := rules[method]; ok {
		if r.slot == "" {
			r.slot = method
		}
		return r, true
	}
	domain, name, _ := strings.Cut(method, ".")
	switch {
	case domains[domain] && name == "enable":
		return rule{act: enable, slot: domain}, true
	case domains[domain] && name == "disable":
		return rule{act: disable, slot: domain}, true
	case domain != "Emulation" || acting[method]:
		return rule{}, false
	}
	if rest, ok := strings.CutPrefix(name, "set"); ok {
		return rule{slot: "Emulation." + rest}, true
	}
	if rest, ok := strings.CutPrefix(name, "clear"); ok {
		return rule{act: clear, slot: "Emulation." + rest}, true
	}
	return rule{}, false
}

// key is the slot with what tells it from others of its kind.
func (r rule) key(params []byte) string {
	if len(r.by) == 0 {
		return r.slot
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(params, &fields) // the browser took them: what cannot be read is not there
	key := []string{r.slot}
	for _, name := range r.by {
		key = append(key, string(fields[name]))
	}
	return strings.Join(key, "\x00")
}

// isOfSession says whether params name an object that dies with the session.
func isOfSession(method string, params []byte) bool {
	if method != "Runtime.addBinding" {
		return false
	}
	var p struct {
		Context *int `json:"executionContextId"`
	}
	return json.Unmarshal(params, &p) == nil && p.Context != nil
}
