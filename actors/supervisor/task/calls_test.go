package task_test

import (
	"holdfast/internal/call/calltest"
)

// calls are the calls of all tests of the package.
var calls calltest.Calls
