package api

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"holdfast/internal/gate"
	"holdfast/messages"
)

// tree shows the supervision tree, as far as the token covers it.
func (h *Handler) tree(w http.ResponseWriter, c *call) error {
	id, err := c.namedTask(h)
	if err != nil {
		return err
	}
	o := treeOptions(c.caller, id)
	if s := c.query.Get("depth"); s != "" {
		if o.Depth, err = strconv.Atoi(s); err != nil || o.Depth < 1 || o.Depth > messages.MaxTreeDepth {
			return messages.Errorf(messages.CodeInvalidArgument, "depth must be 1 to %d", messages.MaxTreeDepth)
		}
	}
	t := h.cfg.Node.Tree(o)
	t.Node = h.nodeName()
	t.Others, t.Missing = gather[messages.Tree](h, c)
	slices.SortFunc(t.Others, func(a, b messages.Tree) int { return cmp.Compare(a.Node, b.Node) })
	h.reply(w, c, http.StatusOK, t)
	return nil
}

func treeOptions(c gate.Caller, id messages.TaskID) messages.TreeOptions {
	return messages.TreeOptions{Task: id, Allows: c.Allows}
}

// namedTask is the task that ?task_id= names, "" where there is none. Such a
// route looks at the task only, and does not renew its lease.
func (c *call) namedTask(h *Handler) (messages.TaskID, error) {
	s := c.query.Get("task_id")
	if s == "" {
		return "", nil
	}
	id, err := messages.ParseTaskID(s)
	if err != nil {
		return "", err
	}
	return id, c.caller.CheckTask(c.Context(), id)
}
