//go:build race

package sim

// hasRaceDetector: a run takes five times as long, and the seeds that have failed once
// found no data races.
const hasRaceDetector = true

// defaultSeeds are those of a run of all tests.
const defaultSeeds = 15
