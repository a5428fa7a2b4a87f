// Package reference makes the reference of the HTTP interface: docs/api.md, and the
// OpenAPI document that a node serves.
//
// Nothing in it is written twice. Routes, parameters and codes come from the table that the
// mux of internal/api is built from, fields from the types of package messages by
// reflection, and their texts, units and values from the doc comments and constants of
// those types. A test drives a node through every route and holds each answer, event and
// error to the document.
package reference

//go:generate go test -run ^TestTheReferenceIsFresh$ -update
