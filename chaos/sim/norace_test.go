//go:build !race

package sim

const hasRaceDetector = false
