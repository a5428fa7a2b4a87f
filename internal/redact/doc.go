// Package redact masks what must not leave the process: credentials in CDP
// URLs, and strings in page text that look like secrets.
//
// It is the lowest floor of the house and imports nothing of the project, so
// that every type that carries a credential can print itself through it.
package redact
