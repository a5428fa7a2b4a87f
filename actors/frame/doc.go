// Package frame holds the actor that keeps the frame forest of a task: one
// tree per page, put together from what each session sees of its own process.
//
//	sessions ── FrameTreeLoaded, FrameAttached, … ──► machine ── FramesChanged ──► supervisor
//	                                                     └────── FramesRemoved ──► dialog
//
// A page's own session never shows the inside of an out-of-process iframe
// (M12); the iframe's session does. Trees are merged on the frame id, which is
// stable over every swap (C35, C36).
//
// Invariants:
//
//   - a frame is owned by the session that last showed a document for it;
//   - "detached, reason swap" moves a frame, it never removes it (F5);
//   - "removed" counts only once no session of the frame lives (F6), and the
//     end of a session alone removes nothing (F7);
//   - every parent is in the forest, and there are no cycles.
package frame
