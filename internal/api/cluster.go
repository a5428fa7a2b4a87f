package api

import (
	"net/http"

	"holdfast/messages"
)

// Cluster is what the HTTP layer needs of the cluster that the node is part of. Its methods
// do not wait.
type Cluster interface {
	// View is what this node knows of the cluster.
	View() messages.Cluster
	// Check is the part of the node's readiness that the cluster decides.
	Check() messages.Check
}

// showCluster shows the nodes; it names no task.
func (h *Handler) showCluster(w http.ResponseWriter, c *call) error {
	if h.cfg.Cluster == nil {
		return messages.Errorf(messages.CodeNotFound, "the node is part of no cluster")
	}
	h.reply(w, c, http.StatusOK, h.cfg.Cluster.View())
	return nil
}
