// Package chromiumtest is what tests on a real Chromium stand on. No program
// imports it.
//
//	Launch, Shared   a Chromium with out-of-process iframes, through internal/browser
//	Serve            pages on as many origins as a test needs, http and https
//	Proxy            a TCP proxy that can kill, stall, refuse, count and record
//	Dial             a small CDP client: the second client, and the oracle
//
// The client shares no code with holdfast/transport on purpose: an oracle
// that uses the code under test agrees with its mistakes.
//
// Pages and addresses are written with the hosts a.test, b.test and so on;
// [Site.URL] and the served pages replace them by hosts that no other Site
// uses. Two Sites therefore never share a renderer process, and tests that
// open dialogs or spin in a loop may share one browser and run in parallel.
//
// Chromium's frame and process rules that the fixtures lean on are in the
// facts package next door.
package chromiumtest
