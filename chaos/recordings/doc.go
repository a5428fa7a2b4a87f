// Package recordings holds what a real Chromium said to a client of the scenarios in
// scenario_test.go. Its tests hold package chaos to that.
//
//	go test ./chaos/recordings -run TestRecordings -record
//
// drives a Chromium through every scenario and rewrites testdata/*.jsonl. One
// line is one message: conn names the client, dir is send or recv, message is
// the CDP message in the browser's own key order with its ids, addresses and
// times replaced by names (normalise_test.go). Without -record the same test
// plays each scenario's client against the fake and compares, connection by
// connection and session by session; what is left out of the comparison is
// listed with reasons in compare_test.go.
//
// TestRecordingsAreFresh plays some of the scenarios on a Chromium again and
// compares with the files, so that they cannot rot.
package recordings
