// Package facts holds no code. Its tests are golden tests of what a real
// Chromium does where its protocol's documentation is silent, one per fact of
// the project's fact sheet (M5, C15 and so on) that a rule of Holdfast leans
// on.
//
// Why: the rules look arbitrary without the facts, and the facts belong to
// one build of a browser that changes every few weeks. When an update changes
// one, the test of that name is the alarm, and its comment names the rule
// that must be thought over again. It is not the test that is to be adapted.
//
// What a fact sheet calls a race ("8 of 25") is not asserted; the tests
// assert the part that holds every time and log the rest.
package facts
