//go:build unix

package main

import "os"

// canColor says whether a terminal shows ANSI colors.
func canColor(*os.File) bool { return os.Getenv("TERM") != "dumb" }
