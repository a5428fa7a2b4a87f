// Command compare drives MCP servers for browsers through the same tasks, and says what each task
// takes. Run it by make compare. Each task has a real Chromium of its own.
//
//	compare run [-servers a,b] [-tasks a,b] [-json FILE] [-v]
//	compare docs                    writes the stored results into docs/comparison.md
//
// A task is a page of ours and what is to come of it (tasks.go, the folder pages). A script does
// it with the hands of a server (one file each): it names an element by its role and name, and
// the hands find what the server calls that in words that the server has said before, by the
// fewest calls that an agent which has never seen the page can do with. Whether the task is
// solved, the page itself says to the site, never the server.
package main
