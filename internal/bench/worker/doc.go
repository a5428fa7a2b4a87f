// Package worker is one client in a process of its own: it opens connections
// and does what it is told, one JSON object a line.
//
// Every client is measured in the same way, from inside, by the calls its users make; so
// each has a process, a heap and a garbage collector of its own, and waits while another is
// at work.
package worker
