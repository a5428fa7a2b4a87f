//go:build race

package transport_test

// The race detector makes sync.Pool forget a quarter of what it is given.
const allocsPerEvent = 1
