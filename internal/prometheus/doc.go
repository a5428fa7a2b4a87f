// Package prometheus proves on Debian's Prometheus what a node's metrics say:
// a real one scrapes a node at work, with faults, and what it has stored is
// asked for in PromQL. No program imports it; the tests need the binaries
// prometheus and promtool (Debian: apt-get install prometheus).
package prometheus
