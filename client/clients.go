package client

import (
	"context"
	"net/http"

	"holdfast/messages"
)

// Clients lists the CDP clients that are connected to a task.
func (c *Client) Clients(ctx context.Context, id messages.TaskID) (messages.ClientList, error) {
	var list messages.ClientList
	_, err := c.call(ctx, patience, http.MethodGet, taskPath(id, "clients"), nil, nil, &list)
	return list, err
}

// DisconnectClient ends the connection of a CDP client of a task.
func (c *Client) DisconnectClient(ctx context.Context, id messages.TaskID, client messages.ClientID) error {
	_, err := c.call(ctx, patience, http.MethodDelete, taskPath(id, "clients", string(client)), nil, nil, nil)
	return err
}
