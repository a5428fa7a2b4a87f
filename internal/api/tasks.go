package api

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"holdfast/messages"
)

func (h *Handler) listTasks(w http.ResponseWriter, c *call) error {
	wanted, err := parseLabels(c.query["label"])
	if err != nil {
		return err
	}
	tasks := make([]*messages.Snapshot, 0)
	for _, s := range h.cfg.Node.Tasks() {
		if c.caller.Allows(s.TaskID) && wanted.match(s.Labels) {
			tasks = append(tasks, h.placed(s))
		}
	}
	lists, missing := gather[messages.TaskList](h, c)
	for _, l := range lists {
		tasks = append(tasks, l.Tasks...)
	}
	slices.SortFunc(tasks, func(a, b *messages.Snapshot) int { return cmp.Compare(a.TaskID, b.TaskID) })
	h.reply(w, c, http.StatusOK, messages.TaskList{Tasks: tasks, Missing: missing})
	return nil
}

// labels is a filter: every pair must be there.
type labels [][2]string

func parseLabels(given []string) (labels, error) {
	if len(given) > messages.MaxLabels {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "label: at most %d", messages.MaxLabels)
	}
	var out labels
	for _, pair := range given {
		k, v, ok := strings.Cut(pair, "=")
		if !ok || k == "" {
			return nil, messages.Errorf(messages.CodeInvalidArgument, "label must be KEY=VALUE")
		}
		out = append(out, [2]string{k, v})
	}
	return out, nil
}

func (l labels) match(have map[string]string) bool {
	for _, pair := range l {
		if v, ok := have[pair[0]]; !ok || v != pair[1] {
			return false
		}
	}
	return true
}

// newTask starts a task under an id of the node's choice (X1).
func (h *Handler) newTask(w http.ResponseWriter, c *call) error {
	prefix, ok := c.caller.Scope().IDPrefix()
	if !ok {
		return c.caller.Refuse(c.Context(), messages.Errorf(messages.CodeForbidden, "the token is good for one task only"))
	}
	// 26 characters of base32, 128 random bits: no id is met twice. A tenant
	// whose name leaves no room for them has to name its tasks itself.
	id, err := messages.ParseTaskID(prefix + strings.ToLower(rand.Text()))
	if err != nil {
		return messages.Errorf(messages.CodeInvalidArgument, "the tenant's name is too long for a generated id: name the task with PUT")
	}
	c.id = id
	return h.start(w, c)
}

func (h *Handler) putTask(w http.ResponseWriter, c *call) error { return h.start(w, c) }

func (h *Handler) start(w http.ResponseWriter, c *call) error {
	var spec messages.TaskSpec
	if err := c.read(w, &spec, maxBody, true); err != nil {
		return err
	}
	if err := spec.Validate(); err != nil {
		return err
	}
	snap, started, err := h.cfg.Node.GetOrStart(c.Context(), c.id, spec)
	if err != nil {
		return err
	}
	return h.replyStarted(w, c, snap, started)
}

// restartTask starts a task that has ended as it was started before. Its spec does
// not come from the caller, who may not know the browser's address.
func (h *Handler) restartTask(w http.ResponseWriter, c *call) error {
	snap, started, err := h.cfg.Node.Restart(c.Context(), c.id)
	if err != nil {
		return err
	}
	return h.replyStarted(w, c, snap, started)
}

func (h *Handler) replyStarted(w http.ResponseWriter, c *call, snap *messages.Snapshot, started bool) error {
	status := http.StatusOK
	if started {
		status = http.StatusCreated
		w.Header().Set("Location", "/v1/tasks/"+url.PathEscape(string(c.id)))
	}
	h.reply(w, c, status, h.placed(snap))
	return nil
}

func (h *Handler) getTask(w http.ResponseWriter, c *call) error {
	return h.show(w, c, messages.SnapshotOptions{})
}

func (h *Handler) snapshot(w http.ResponseWriter, c *call) error {
	o := messages.SnapshotOptions{TargetID: messages.TargetID(c.query.Get("target_id"))}
	if err := messages.CheckOpaqueID("target_id", string(o.TargetID)); err != nil {
		return err
	}
	if s := c.query.Get("full"); s != "" {
		var err error
		if o.Full, err = strconv.ParseBool(s); err != nil {
			return messages.Errorf(messages.CodeInvalidArgument, "full must be true or false")
		}
	}
	return h.show(w, c, o)
}

func (h *Handler) show(w http.ResponseWriter, c *call, o messages.SnapshotOptions) error {
	snap, err := h.cfg.Node.Snapshot(c.id, o)
	if err != nil {
		return err
	}
	h.reply(w, c, http.StatusOK, h.placed(snap))
	return nil
}

func (h *Handler) deleteTask(w http.ResponseWriter, c *call) error {
	// What does not run is as stopped as it can be.
	if err := h.cfg.Node.StopTask(c.Context(), c.id); err != nil && messages.CodeOf(err) != messages.CodeTaskNotFound {
		return err
	}
	h.sendNothing(w, c)
	return nil
}

func (h *Handler) renewTask(w http.ResponseWriter, c *call) error {
	if err := h.cfg.Node.Renew(c.id); err != nil {
		return err
	}
	h.sendNothing(w, c)
	return nil
}
