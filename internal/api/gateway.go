package api

import (
	"net/http"

	"holdfast/internal/gate"
	"holdfast/messages"
)

// Gateway serves the CDP endpoints of tasks. Its methods are safe for concurrent use.
type Gateway interface {
	// Serve answers one request below a task's CDP endpoint; rest is what follows the task
	// in the path. A WebSocket lasts longer than the call.
	Serve(w http.ResponseWriter, r *http.Request, id messages.TaskID, rest string, caller gate.Caller) error
	// Clients lists the clients of a task.
	Clients(id messages.TaskID) messages.ClientList
	// Disconnect ends a client's connection.
	Disconnect(id messages.TaskID, client messages.ClientID) error
}

// cdpEndpoint serves a task to CDP clients.
func (h *Handler) cdpEndpoint(w http.ResponseWriter, c *call) error {
	if h.cfg.Gateway == nil {
		return messages.Errorf(messages.CodeNotFound, "this node has no gateway for CDP clients")
	}
	rest := c.PathValue("rest")
	if c.Method == http.MethodPut {
		rest = "json/new"
	}
	return h.cfg.Gateway.Serve(w, c.Request, c.id, rest, c.caller)
}

// clients lists the CDP clients of a task.
func (h *Handler) clients(w http.ResponseWriter, c *call) error {
	if _, err := h.cfg.Node.Snapshot(c.id, messages.SnapshotOptions{}); err != nil {
		return err
	}
	h.reply(w, c, http.StatusOK, h.clientsOf(c.id))
	return nil
}

// clientsOf lists the clients of a task; a node without a gateway has none.
func (h *Handler) clientsOf(id messages.TaskID) messages.ClientList {
	if h.cfg.Gateway == nil {
		return messages.ClientList{Mode: messages.ClientsShared, Clients: []messages.Client{}}
	}
	return h.cfg.Gateway.Clients(id)
}

// disconnectClient ends the connection of a CDP client.
func (h *Handler) disconnectClient(w http.ResponseWriter, c *call) error {
	if _, err := h.cfg.Node.Snapshot(c.id, messages.SnapshotOptions{}); err != nil {
		return err
	}
	client := messages.ClientID(c.PathValue("client_id"))
	if err := messages.CheckOpaqueID("client_id", string(client)); err != nil {
		return err
	}
	if h.cfg.Gateway == nil {
		return messages.Errorf(messages.CodeClientNotFound, "this node has no gateway for CDP clients")
	}
	if err := h.cfg.Gateway.Disconnect(c.id, client); err != nil {
		return err
	}
	h.sendNothing(w, c)
	return nil
}
