package cli

import (
	"fmt"
	"strconv"

	"holdfast/messages"
)

type pressureCmd struct{ reaching }

// Run implements the command.
func (*pressureCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	p, err := node.Pressure(r)
	if err != nil || r.IsJSON {
		return err
	}
	for _, one := range append([]messages.Pressure{p}, p.Others...) {
		r.showPressure(one)
	}
	r.nameMissing(p.Missing)
	return nil
}

// showPressure shows that of one node.
func (r *run) showPressure(p messages.Pressure) {
	line := func(name, format string, args ...any) {
		r.people("%-9s %s\n", name, clean(fmt.Sprintf(format, args...)))
	}
	name := "node"
	if p.Node != "" {
		name = "node " + p.Node
	}
	if p.Available {
		line(name, "takes tasks")
	} else {
		line(name, "takes no task now: %s; ask again in %d s", limitWord(p.Reason), p.RetryAfterS)
	}
	line("tasks", "%d of %d", p.Running, p.Limits.Tasks)
	line("browsers", "%d of %d launched", p.Browsers, p.Limits.Browsers)
	queue := fmt.Sprintf("%d of %d", p.Queued, p.Limits.QueueLength)
	if p.Queued > 0 {
		queue += fmt.Sprintf(", the first for %.1f s of %g", p.OldestWaitS, p.Limits.QueueTimeoutS)
	}
	line("queue", "%s", queue)
	line("memory", "%s", loadWord(p.Memory))
	line("cpu", "%s", loadWord(p.CPU))
	refused := uint64(0)
	for _, n := range p.RejectedLastMinute {
		refused += n
	}
	line("refused", "%d in the last minute", refused)
	for _, why := range messages.LimitReasons() {
		if n := p.RejectedLastMinute[why]; n > 0 {
			line("", "%s: %d", limitWord(why), n)
		}
	}
}

// limitWords say to people what a node was out of.
var limitWords = map[messages.LimitReason]string{
	messages.LimitTasks:         "as many tasks run as may",
	messages.LimitBrowsers:      "as many browsers are launched as may be",
	messages.LimitMemory:        "too much memory is in use",
	messages.LimitCPU:           "the processors are busy",
	messages.LimitQuota:         "a tenant has as many tasks as it may",
	messages.LimitCordoned:      "an operator keeps new tasks from the node",
	messages.LimitQueueFull:     "the queue was full",
	messages.LimitQueueDeadline: "no place came free in time",
	messages.LimitDraining:      "the node is about to stop",
}

func limitWord(why messages.LimitReason) string {
	if w, ok := limitWords[why]; ok {
		return w
	}
	return string(why)
}

func loadWord(l messages.Load) string {
	switch l.State {
	case messages.LoadOff:
		return "not looked at"
	case messages.LoadUnknown:
		return "cannot be read"
	}
	s := fmt.Sprintf("%.0f%% in use", l.Used*100)
	if l.LimitBytes > 0 {
		s += fmt.Sprintf(" of %s (%s)", mebibytes(l.LimitBytes), l.Source)
	}
	if l.State == messages.LoadHigh {
		return s + fmt.Sprintf(": no task starts until it is %.0f%%", l.Low*100)
	}
	return s + fmt.Sprintf(", no task starts from %.0f%% on", l.High*100)
}

func mebibytes(n uint64) string { return strconv.FormatUint(n>>20, 10) + " MiB" }
