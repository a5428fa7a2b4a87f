//go:build !race

package transport_test

const allocsPerEvent = 0
