// Package scan walks JSON without decoding it: a CDP message whose outside alone
// matters, an event of which three strings do. It checks the outside of what it
// walks, and the inside of values only for balance. What it takes may hold
// invalid JSON in a value; valid JSON is always taken, and read as encoding/json
// reads it, but for bytes that are no UTF-8: they are not mended.
package scan
