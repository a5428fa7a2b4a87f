package cli

import (
	"fmt"
	"time"

	"holdfast/messages"
)

type actorsCmd struct {
	ID    taskID `arg:"" predictor:"task" optional:"" help:"Only this task's."`
	Depth int    `placeholder:"N" help:"So many levels below the registry: 1 shows supervisors alone."`
	reaching
}

// Run implements the command.
func (c *actorsCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	t, err := node.Tree(r, messages.TreeOptions{Task: c.ID.TaskID, Depth: c.Depth})
	if err != nil || r.IsJSON {
		return err
	}
	for _, one := range append([]messages.Tree{t}, t.Others...) {
		if one.Node != "" {
			r.people("node %s\n", clean(one.Node))
		}
		printActors(r.screen(), one)
	}
	r.nameMissing(t.Missing)
	return nil
}

// printActors draws the supervision tree.
func printActors(w screen, t messages.Tree) {
	out := newTable(w, "ACTOR", "STATE", "RESTARTS", "AGE", "MAILBOX", "GENERATION").
		fit([]string{"GENERATION"}, []string{"ACTOR"}).paint("STATE", paintState)
	var draw func(n messages.TreeNode, own, below string)
	draw = func(n messages.TreeNode, own, below string) {
		generation, age, state := "", "", string(n.State)
		if n.Generation > 0 {
			generation, age = fmt.Sprint(n.Generation), span(n.StartedAt, t.At)
		}
		if n.RestartAt > 0 {
			state += " " + span(t.At, n.RestartAt)
		}
		out.row(own+clean(actorName(n)), clean(state), fmt.Sprint(n.Restarts), age, fmt.Sprint(n.Mailbox), generation)
		for i, c := range n.Children {
			if i == len(n.Children)-1 {
				draw(c, below+"└─ ", below+"   ")
			} else {
				draw(c, below+"├─ ", below+"│  ")
			}
		}
	}
	draw(t.Root, "", "")
	out.flush()
	if t.Truncated {
		fmt.Fprintln(w, "… and more: name a task, or --depth")
	}
}

// actorName names an actor once where its key says no more than its kind.
func actorName(n messages.TreeNode) string {
	if n.Key == n.Kind || n.Kind == "session" { // session/<id> is the whole key
		return n.Key
	}
	return n.Kind + "/" + n.Key
}

// span is the time between two moments, as short as people read it.
func span(from, to messages.Seconds) string {
	d := time.Duration(float64(to-from) * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return d.Round(time.Minute).String()
}
