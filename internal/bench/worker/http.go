package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"holdfast/internal/bench/stage"
	"holdfast/internal/nodeurl"
)

// overHTTP is a user's program that drives a node: net/http, one connection that is kept
// alive, the contract's routes.
type overHTTP struct {
	node   nodeurl.Node
	token  string
	client http.Client
}

type overHTTPPage struct {
	*overHTTP
	id string
}

func newOverHTTP(o Options) (Client, error) {
	node, err := nodeurl.Parse(o.Node)
	if err != nil {
		return nil, err
	}
	return &overHTTP{node: node, token: o.Token, client: http.Client{Transport: &http.Transport{DialContext: node.DialContext}}}, nil
}

// Close implements Client.
func (c *overHTTP) Close() { c.client.CloseIdleConnections() }

func (c *overHTTP) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.node.Base.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s", method, path, answer)
	}
	return answer, err
}

// Open implements Client.
func (c *overHTTP) Open(ctx context.Context, p stage.Place) (Page, error) {
	body, err := json.Marshal(map[string]string{"cdp_url": p.Browser, "target_id": p.Target})
	if err != nil {
		return nil, err
	}
	id := "bench-" + p.Target
	_, err = c.do(ctx, http.MethodPut, "/v1/tasks/"+id, body)
	return &overHTTPPage{c, id}, err
}

// Evaluate implements Page.
func (p *overHTTPPage) Evaluate(ctx context.Context) error {
	answer, err := p.do(ctx, http.MethodPost, "/v1/tasks/"+p.id+"/cdp", []byte(`{"method":"Runtime.evaluate","params":{"expression":"1+1","returnByValue":true}}`))
	if err == nil && !bytes.Contains(answer, two) {
		err = fmt.Errorf("1+1 is %s", answer)
	}
	return err
}

// Call implements Page.
func (p *overHTTPPage) Call(ctx context.Context, method string, params map[string]any) error {
	body, err := json.Marshal(map[string]any{"method": method, "params": params, "timeout_s": patience.Seconds()})
	if err != nil {
		return err
	}
	_, err = p.do(ctx, http.MethodPost, "/v1/tasks/"+p.id+"/cdp", body)
	return err
}
