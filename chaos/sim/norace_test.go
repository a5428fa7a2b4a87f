//go:build !race

package sim

const hasRaceDetector = false

// defaultSeeds are those of a run of all tests: where more are asked for, every regression
// is played whole as well.
const defaultSeeds = 25
