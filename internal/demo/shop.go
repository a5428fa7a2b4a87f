package demo

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

const paymentTitle = "Payment"

// shop is two servers on this machine. The same address under two names,
// localhost and 127.0.0.1, is two sites to a browser.
type shop struct {
	url, paymentURL string
	servers         []*http.Server
}

const shopPage = `<!doctype html><title>Shop</title>
<h1>Shop</h1><p id="received"></p>
<script>addEventListener('message', e => { document.getElementById('received').textContent = e.data })</script>
<iframe src="PAYMENT"></iframe>`

const paymentPage = `<!doctype html><title>` + paymentTitle + `</title>
<script>
const pin = prompt('Your PIN, please?', '0000')
parent.postMessage('payment got ' + pin, '*')
</script>`

func open() (*shop, error) {
	s := &shop{}
	payment, err := s.serve(paymentPage)
	if err != nil {
		return nil, err
	}
	s.paymentURL = fmt.Sprintf("http://127.0.0.1:%d/", payment)
	page := strings.ReplaceAll(shopPage, "PAYMENT", s.paymentURL)
	port, err := s.serve(page)
	if err != nil {
		s.close()
		return nil, err
	}
	s.url = fmt.Sprintf("http://localhost:%d/", port)
	return s, nil
}

func (s *shop) serve(page string) (port int, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("serve the demo's pages: %w", err)
	}
	server := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, page)
		}),
	}
	s.servers = append(s.servers, server)
	go func() { _ = server.Serve(l) }() // ends with close
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (s *shop) close() {
	for _, server := range s.servers {
		_ = server.Close()
	}
}
