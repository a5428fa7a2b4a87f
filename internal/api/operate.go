package api

import (
	"io"
	"net/http"

	"holdfast/messages"
)

// operated is the cluster, for a caller who may change it.
func (h *Handler) operated(c *call) (Cluster, error) {
	if !c.caller.Scope().IsAdmin() {
		return nil, c.caller.Refuse(c.Context(), messages.Errorf(messages.CodeForbidden, "only the admin token is good for this"))
	}
	if h.cfg.Cluster == nil {
		return nil, messages.Errorf(messages.CodeNotFound, "the node is part of no cluster")
	}
	return h.cfg.Cluster, nil
}

// snapshotCluster streams a copy of the store.
func (h *Handler) snapshotCluster(w http.ResponseWriter, c *call) error {
	cluster, err := h.operated(c)
	if err != nil {
		return err
	}
	r, err := cluster.Snapshot(c.Context())
	if err != nil {
		return err
	}
	defer r.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	if _, err := io.Copy(w, r); err != nil {
		h.logFailure(c, "a copy of the store was cut off", err)
		panic(http.ErrAbortHandler) // the caller must not take it for whole
	}
	return nil
}

func (h *Handler) recoverCluster(w http.ResponseWriter, c *call) error {
	var body messages.ClusterRecovery
	if err := c.read(w, &body, maxBody, false); err != nil {
		return err
	}
	cluster, err := h.operated(c)
	if err != nil {
		return err
	}
	if err := body.Validate(); err != nil {
		return err
	}
	h.cfg.Logger.WarnContext(c.Context(), "a recovery of the cluster's store was asked for over HTTP")
	era, err := cluster.Recover(c.Context())
	if err != nil {
		return err
	}
	h.reply(w, c, http.StatusOK, messages.ClusterEra{Era: era})
	return nil
}

func (h *Handler) replaceVoter(w http.ResponseWriter, c *call) error {
	cluster, err := h.operated(c)
	if err != nil {
		return err
	}
	if err := cluster.Replace(c.Context(), c.PathValue("node")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// operatedNode has the node in the path do something, to which another one passes it on.
func (h *Handler) operatedNode(w http.ResponseWriter, c *call, do func(Cluster) error) error {
	cluster, err := h.operated(c)
	if err != nil {
		return err
	}
	if node := c.PathValue("node"); node != cluster.Node() {
		if c.isHop() {
			return messages.Errorf(messages.CodeWrongCluster, "this is node %s", cluster.Node())
		}
		return h.forward(w, c, node)
	}
	return do(cluster)
}

// emptyNode gives the tasks of a node to others.
func (h *Handler) emptyNode(w http.ResponseWriter, c *call) error {
	return h.operatedNode(w, c, func(cluster Cluster) error {
		h.cfg.Logger.InfoContext(c.Context(), "the node is to give its tasks away, by an operator's word")
		moves, err := cluster.Empty(c.Context())
		if err != nil {
			return err
		}
		h.reply(w, c, http.StatusOK, moves)
		return nil
	})
}

// rebalanceNode gives tasks of a node to those that rank first for them.
func (h *Handler) rebalanceNode(w http.ResponseWriter, c *call) error {
	return h.operatedNode(w, c, func(cluster Cluster) error {
		h.reply(w, c, http.StatusOK, cluster.Rebalance(c.Context()))
		return nil
	})
}

// cordon keeps new tasks from a node, or takes that back.
func (h *Handler) cordon(w http.ResponseWriter, c *call) error {
	return h.operatedNode(w, c, func(cluster Cluster) error {
		if err := cluster.Cordon(c.Method == http.MethodPut); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}
