// Package bundle holds what scripts run in: QuickJS as WebAssembly, and one bundle of
// JavaScript with Puppeteer. The script make in this directory makes both of the npm
// packages that package-lock.json pins; LICENSES.txt has their licenses.
package bundle

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

//go:embed quickjs.wasm.gz
var quickjs []byte

//go:embed scripts.js.gz
var scripts []byte

// QuickJS returns the WebAssembly of QuickJS-ng as quickjs-wasi builds it.
func QuickJS() []byte { return unpack(quickjs) }

// Scripts returns the JavaScript that has to be evaluated before a script.
func Scripts() string { return string(unpack(scripts)) }

func unpack(b []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		panic(err) // the build embedded it
	}
	out, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return out
}
