package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/internal/gate"
	"holdfast/messages"
)

// Handler serves MCP as streamable HTTP. It keeps no sessions: every request is answered by
// itself, and any node of a cluster can answer it. It is safe for concurrent use.
type Handler struct {
	cfg  Config
	node func(*http.Request) Node
	http *sdk.StreamableHTTPHandler

	mu      sync.Mutex
	servers map[choice]*chosen
}

// choice is what the address of a client asks for.
type choice struct{ tools, profile string }

// chosen is the server of a choice.
type chosen struct {
	*server
	sdk *sdk.Server
}

// maxChoices bounds the servers that are kept; another choice gets one for a request.
const maxChoices = 64

// NewHandler returns a handler. Node returns the node as the sender of a request may use it; cfg
// says what a client gets that asks for nothing else.
func NewHandler(cfg Config, node func(*http.Request) Node) (*Handler, error) {
	h := &Handler{cfg: cfg, node: node, servers: map[choice]*chosen{}}
	if _, err := h.choose(choice{}); err != nil {
		return nil, err
	}
	h.http = sdk.NewStreamableHTTPHandler(
		func(r *http.Request) *sdk.Server { return r.Context().Value(serverKey{}).(*sdk.Server) },
		&sdk.StreamableHTTPOptions{
			Stateless: true, PropagateRequestCancellation: true,
			// The gate has looked at Host and Origin, and the route at the length.
			DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
		},
	)
	return h, nil
}

type serverKey struct{}

// choose returns the server of a choice.
func (h *Handler) choose(of choice) (*chosen, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if found := h.servers[of]; found != nil {
		return found, nil
	}
	cfg := h.cfg
	if of.tools != "" {
		cfg.Tools, cfg.Profile = of.tools, ""
	}
	if of.profile != "" {
		cfg.Profile = of.profile
	}
	s, err := newServer(cfg)
	if err != nil {
		return nil, err
	}
	made := &chosen{s, s.offer()}
	if len(h.servers) < maxChoices {
		h.servers[of] = made
	}
	return made, nil
}

// sessionHeader names a client over HTTP. It is no key to anything: what a caller may do follows
// from its token.
const sessionHeader = "Mcp-Session-Id"

// peeked is what a message says before it is served.
type peeked struct {
	Method string `json:"method"`
	Params struct {
		Meta struct {
			Client struct {
				Name string `json:"name"`
			} `json:"io.modelcontextprotocol/clientInfo"`
		} `json:"_meta"`
	} `json:"params"`
}

// Serve answers one request; body is the whole of it. Errors are [messages.Error]s of requests
// that are no messages of MCP yet.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, body []byte, caller gate.Caller) error {
	query := r.URL.Query()
	found, err := h.choose(choice{query.Get("tools"), query.Get("profile")})
	if err != nil {
		return err
	}
	var said peeked
	_ = json.Unmarshal(body, &said) // what is wrong with it, the SDK says
	session := r.Header.Get(sessionHeader)
	if said.Method == "initialize" {
		session = strings.ToLower(rand.Text())
		w.Header().Set(sessionHeader, session)
	} else if session != "" && !isSession(session) {
		return messages.Errorf(messages.CodeNotFound, "this server gave out no such %s", sessionHeader)
	}
	own, isMade, err := ownOver(caller, query.Get("task"), said.Params.Meta.Client.Name, session)
	if err != nil {
		return err
	}
	if err := caller.CheckTask(r.Context(), own); err != nil {
		return err
	}
	p := &peer{node: h.node(r), own: newOwnTask(own, messages.TaskSpec{})}
	if r.Method == http.MethodDelete {
		return leave(w, r, p, isMade && session != "")
	}
	ctx, stop := caller.While(r.Context())
	defer stop()
	p.request = ctx
	serves := found.sdk
	if said.Method == "subscriptions/listen" {
		serves = found.offer() // tells this caller alone
	}
	ctx = context.WithValue(withPeer(ctx, p), serverKey{}, serves)
	r = r.WithContext(ctx)
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.http.ServeHTTP(w, r)
	return nil
}

// leave answers a client that says goodbye. The task that was made for it ends.
func leave(w http.ResponseWriter, r *http.Request, p *peer, isMade bool) error {
	if isMade {
		ctx, cancel := context.WithTimeout(r.Context(), stopTime)
		defer cancel()
		if err := p.node.StopTask(ctx, p.own.id); err != nil {
			return err
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// ownOver is the task of a client over HTTP: the one that its address names, that of its token,
// or else one that is made for it and named after it.
func ownOver(caller gate.Caller, asked, client, session string) (id messages.TaskID, isMade bool, err error) {
	if asked != "" {
		id, err = messages.ParseTaskID(asked)
		return id, false, err
	}
	if only, ok := caller.Scope().Task(); ok {
		return only, false, nil
	}
	prefix, _ := caller.Scope().IDPrefix()
	id, err = messages.ParseTaskID(prefix + string(ownID(client, session)))
	return id, true, err
}

// isSession says whether a session's name can be one that was given out.
func isSession(s string) bool {
	return len(s) == len(rand.Text()) && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
