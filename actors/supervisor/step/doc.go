// Package step holds what the steps of a task's machine are made of: the inputs that the
// supervisor's actor tells it of, the effects that the actor carries out, and [Work], which has
// the task's state and gathers what a step does and tells. The machine itself is in package task.
package step
