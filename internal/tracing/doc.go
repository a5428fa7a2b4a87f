// Package tracing sends what the node does as OpenTelemetry traces, by OTLP over
// HTTP, to a collector. It is the one package that knows the SDK: the others
// know its interfaces, so that a program that embeds a node brings a
// TracerProvider of its own, or none.
//
//	spans ─▶ counted ─▶ the SDK's batches ─▶ counting ─▶ OTLP over HTTP
//	           └ refuses what finds no room: bounds, "spans"   └ a batch that failed: likewise
//
// A collector that is slow or dead costs spans, counted, and one line a minute;
// never a call.
package tracing
