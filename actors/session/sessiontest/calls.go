package sessiontest

import "holdfast/internal/call/calltest"

// Calls are the calls of all tests of the package.
var Calls calltest.Calls
