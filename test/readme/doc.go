// Package readme runs what the README tells its readers to run: the commands in their
// order, and the programs as they stand there, on a real Chromium.
package readme
