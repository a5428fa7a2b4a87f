// Package browser finds, launches, owns and reaps Chromium.
//
//	Manager ──Launch──▶ Process            one browser: own process group or job, own temporary profile
//	   │                   │
//	   │                   └─ watch         sees the exit, ends the group, removes profile and lease
//	   └─Reap                               at node start: ends what a dead node left behind
//
//	StateDir/leases/NONCE.json              who owns which browser; 0600
//	StateDir/leases/NODE.lock               held by a node while it lives
//	StateDir/profiles/NONCE/                --user-data-dir, TMPDIR and crash dumps of one browser; 0700
//
// # Invariants
//
//   - The lease is on disk before the browser is executed and goes only after
//     the profile has gone. A node may be killed at any instant without
//     leaving a browser or a profile without a known owner.
//   - A node holds a lock in the directory of leases for its life. A process that gets it
//     knows that the node is dead, in whatever container it was.
//   - The profile's name is a random nonce that stands in the command line of
//     the browser and of its children. Ownership is proved, never guessed: a
//     process is signalled only when its owner is dead (process gone, or its
//     pid has another start time, or the machine has booted since) and the
//     process itself carries our nonce. What cannot be proved is left
//     alone and said in the log.
//   - A signal goes to a whole process group only while this process still
//     holds its unreaped leader, so that the group's number cannot have been
//     given to another; any other process is signalled through a handle (a pidfd)
//     that was opened before the proof was read.
//   - On Linux a browser begins as the launcher, the node's own program, which makes
//     its surroundings: the state directory is covered by an empty one in a mount
//     namespace, the user changes, privileges go. See [Isolation].
//   - Nothing secret stands in the arguments of a child. Its environment is a
//     list of what is let through.
//
// # Systems
//
// What differs between systems stands in files of one small interface each: processes
// (proc), the processes of one browser (tree: a group, or a job on Windows), files and
// locks (file), pipes (pipe), the end of a child (wait), where browsers are installed
// (places). [Capabilities] says what a system lacks; docs/platforms.md compares them.
package browser
