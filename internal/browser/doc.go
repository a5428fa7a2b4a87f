// Package browser finds, launches, owns and reaps Chromium.
//
//	Manager ──Launch──▶ Process            one browser: own process group, own temporary profile
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
//     leaving a browser or a profile that nobody can attribute.
//   - A node holds a lock in the directory of leases for its life. A process that gets it
//     knows that the node is dead, in whatever container it was.
//   - The profile's name is a random nonce that stands in the command line of
//     the browser and of its children. Ownership is proved, never guessed: a
//     process is signalled only when its owner is dead (process gone, or its
//     pid has another start time, or the machine has booted since) and the
//     process itself carries our nonce. Whatever cannot be proved is left
//     alone and said in the log.
//   - A signal goes to a whole process group only while this process still
//     holds its unreaped leader, so that the group's number cannot have been
//     given to somebody else; any other process is signalled through a pidfd
//     that was opened before the proof was read.
//   - A browser begins as the launcher, the node's own program, which makes its
//     surroundings: the state directory is covered by an empty one in a mount
//     namespace, the user changes, privileges go. See [Isolation].
//   - Nothing secret stands in the arguments of a child. Its environment is a
//     list of what is let through.
//
// The package needs Linux: ownership is read from /proc.
package browser
