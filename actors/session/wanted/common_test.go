package wanted_test

import (
	"testing"

	"holdfast/actors/session/wanted"
)

// What the end of another session takes back is renewed; what it leaves is not.
func TestRenew(t *testing.T) {
	t.Parallel()
	var s wanted.State
	p := wanted.Place{Page: "P", Target: "P", Session: "S"}
	set := func(method, params string) { s.Succeeded(p, method, []byte(params), []byte(`{}`)) }
	if s.HasCommon("P") {
		t.Error("nothing is set")
	}
	set("Emulation.setDeviceMetricsOverride", `{"width":1}`)
	if commands, _ := s.Renew(p); s.HasCommon("P") || len(commands) != 0 {
		t.Errorf("%+v", commands)
	}
	set("Emulation.setEmulatedMedia", `{"media":"print"}`)
	set("Network.emulateNetworkConditions", `{"offline":true}`)
	commands, changes := s.Renew(p)
	if !s.HasCommon("P") || len(commands) != 2 || commands[0].Method != "Emulation.setEmulatedMedia" || commands[1].Method != "Network.emulateNetworkConditions" {
		t.Fatalf("%+v", commands)
	}
	if again, _ := s.Renew(p); len(again) != 2 {
		t.Errorf("while that is under way another session leaves: %+v", again)
	}
	if s.IsOvertaken(p, changes) {
		t.Error("nothing else has been set")
	}
	set("Emulation.setEmulatedMedia", `{"media":"screen"}`)
	if !s.IsOvertaken(p, changes) {
		t.Error("an agent has set another media since")
	}
	if newest, _ := s.Renew(p); len(newest) != 2 || string(newest[1].Params) != `{"media":"screen"}` {
		t.Errorf("%+v", newest)
	}
	other := p
	other.Session = "S2"
	if commands, _ := s.Renew(other); len(commands) != 0 {
		t.Errorf("another session is given %+v: its attach gives it all", commands)
	}
	s.Succeeded(p, "Network.disable", nil, []byte(`{}`))
	s.End(p)
	if commands, _ := s.Renew(p); len(commands) != 0 || s.HasCommon("P") {
		t.Errorf("a session that has ended is given %+v", commands)
	}
}
