// Command bench measures what Holdfast costs, beside the least a program can do with the
// same WebSocket library (the floor). Others that hold CDP connections are measured in the
// same run. Run it by make bench.
//
//	bench run [-only roundtrip,intake] [-json FILE]
//	bench check [-only …]          what has moved since the stored baseline
//	bench scale                    cost and latency by the number of tasks
//	bench docs                     writes the stored figures into the docs
//
// A measurement is one file: roundtrip.go, intake.go, and so on. Every client
// has a process of its own (package worker) and takes its turn round by round,
// so that what a machine does in a second falls on all of them alike. The stage
// (package stage) is a real Chromium or a fake one in another process. What is
// left are samples, one per round (package figure).
package main
