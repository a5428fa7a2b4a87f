// Package gctuning has a process's heap kept close while many tasks of its node start. The
// program uses it, never the library.
//
// Two thirds of what a start allocates is garbage a moment later. By Go's default a
// heap may grow to twice of what lives in it before that is collected; what lives is
// then scattered over all of it, and since Go moves nothing, the process keeps the
// pages between for as long as the tasks live. So while tasks start by the dozen,
// GOGC is [percent]: by measurement 14 KiB less for each idle task with one link, 16
// with both, for a fourth to a half more processor time of its start. (At 25 it is 12
// and 13, for a tenth less; at 12, one or two more, for a tenth more.) What comes
// after, and every start by itself, is as ever.
//
// GOGC is the process's. Whoever has set it, or a memory limit, by the environment
// or in code, keeps what was set.
package gctuning
