// Package model is what is known of one task: its pages, their sessions, frames and
// dialogs, how its links stand, and what follows from that. Which dialog holds which
// renderer, what state a page is in, and what a snapshot shows are questions to a [Task].
//
// The machine of package task changes it; nothing here has an effect.
package model
