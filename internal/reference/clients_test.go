package reference_test

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"holdfast/messages"
)

// clients drives a task as a CDP client does, and looks at the clients that it has.
func (s *stage) clients() {
	s.Helper()
	connect := func(path string) *websocket.Conn {
		s.Helper()
		conn, answer, err := websocket.Dial(s.ctx, strings.Replace(s.url, "http", "ws", 1)+path, &websocket.DialOptions{
			HTTPHeader: http.Header{"Authorization": {"Bearer " + s.token}},
		})
		if err != nil {
			s.Fatalf("connect to %s: %v", path, err)
		}
		s.saw("GET " + entry("GET", path).Path + " " + "101")
		if answer.StatusCode != http.StatusSwitchingProtocols {
			s.Errorf("%s: %d", path, answer.StatusCode)
		}
		return conn
	}
	first := connect("/cdp/one?mode=exclusive&client=ann")
	s.wants(409, messages.CodeClientBusy, "GET", "/cdp/one", "", upgrade)
	var list messages.ClientList
	if err := json.Unmarshal(s.wants(200, "", "GET", "/v1/tasks/one/clients", ""), &list); err != nil {
		s.Fatal(err)
	}
	if len(list.Clients) != 1 || list.Clients[0].Name != "ann" || list.ActiveClientID != list.Clients[0].ClientID {
		s.Fatalf("the clients are %+v", list)
	}
	s.until("the live page's event", func() bool { return s.hasSeen("event GET /v1/live clients") })
	s.wants(204, "", "DELETE", "/v1/tasks/one/clients/"+string(list.Clients[0].ClientID), "")
	if _, _, err := first.Read(s.ctx); websocket.CloseStatus(err) != 4001 {
		s.Errorf("a client that was disconnected reads %v", err)
	}
	s.wants(404, messages.CodeClientNotFound, "DELETE", "/v1/tasks/one/clients/c-77", "")
	s.until("the slot is free", func() bool {
		code, _ := s.ask("GET", "/cdp/one/json", "")
		return code == 200
	})
	s.wants(200, "", "PUT", "/cdp/one/json/new?about:blank", "")
	second := connect("/cdp/one/devtools")
	_ = second.CloseNow()
}

// upgrade makes a request that of a WebSocket.
func upgrade(r *http.Request) {
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Sec-WebSocket-Version", "13")
	r.Header.Set("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
}
