package gateway

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"net/http"
	"sync"
)

// protocolGzip is what the Chromium that the tests run on answers to /json/protocol. A
// browser on a pipe has no such answer of its own.
//
//go:embed protocol.json.gz
var protocolGzip []byte

var protocolJSON = sync.OnceValues(func() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(protocolGzip))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
})

// protocol is the description of CDP.
func (d discovery) protocol(w http.ResponseWriter) error {
	text, err := protocolJSON()
	if err != nil {
		return err
	}
	send(w, "application/json; charset=UTF-8", text)
	return nil
}
