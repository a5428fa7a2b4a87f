// Command gen writes the names of all methods of the pinned cdproto to a file,
// one a line.
package main

import (
	"fmt"
	"os"

	"holdfast/internal/rawcdp/protocol"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen FILE")
		os.Exit(2)
	}
	text, err := protocol.Methods()
	if err == nil {
		err = os.WriteFile(os.Args[1], text, 0o644) //nolint:gosec // a source file
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
