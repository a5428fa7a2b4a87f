// Package demo tells Holdfast's story in a few seconds on a real browser,
// with nothing but this machine: a page whose cross-origin iframe asks a
// question, and an agent that sees it, answers it and reaches into the frame. The
// socket that everything runs over is killed while the question is open.
//
// It uses the node's Go API as any program would; what it prints is what it
// got from there.
//
// The story of a cluster is told with three nodes, which are processes of this program, and
// over HTTP: the node that supervises the page is killed while the question is open, and
// another one answers it.
package demo
