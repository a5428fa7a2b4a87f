// Package version says what was built.
package version
