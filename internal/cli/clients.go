package cli

import (
	"fmt"
	"strconv"
	"time"

	"holdfast/messages"
)

type clientsCmd struct {
	ID         taskID `arg:"" predictor:"task" help:"The task."`
	Disconnect string `placeholder:"ID" help:"Disconnect this client instead."`
	reaching
}

// Run implements the command.
func (c *clientsCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	if c.Disconnect != "" {
		if err := node.DisconnectClient(r, c.ID.TaskID, messages.ClientID(c.Disconnect)); err != nil {
			return err
		}
		r.people("%s is disconnected\n", clean(c.Disconnect))
		return nil
	}
	list, err := node.Clients(r, c.ID.TaskID)
	if err != nil || r.IsJSON {
		return err
	}
	if len(list.Clients) == 0 {
		r.people("no CDP client is connected; connect one to /cdp/%s, or with holdfast connect %s\n", clean(string(c.ID.TaskID)), clean(string(c.ID.TaskID)))
		return nil
	}
	t := newTable(r.screen(), "CLIENT", "NAME", "SINCE", "DIALOGS", "SESSIONS", "COMMANDS", "EVENTS", "DROPPED", "STALLED").
		fit([]string{"STALLED", "DROPPED", "SESSIONS"}, []string{"NAME"})
	for _, l := range list.Clients {
		name := l.Name
		if l.ClientID == list.ActiveClientID {
			name += " (exclusive)"
		}
		stalled := time.Duration(l.StalledS * float64(time.Second)).Round(time.Millisecond)
		t.row(clean(string(l.ClientID)), clean(name), clock(l.ConnectedAt), clean(l.Dialogs), strconv.Itoa(l.Sessions),
			fmt.Sprint(l.Commands), fmt.Sprint(l.Events), fmt.Sprint(l.Dropped), stalled.String())
	}
	t.flush()
	return nil
}
