// Package acceptance proves the requirements on real Chromium, from outside:
// each test is named after its row and drives a whole node through its public
// API, with a second CDP client as the witness. It holds tests only.
package acceptance
