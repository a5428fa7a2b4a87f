package acceptance_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// TestAnAnswerIsSettledByTheOtherLink: 60 dialogs, the primary killed under the answer to
// each. The caller is always told what became of it, and the page got that answer.
func TestAnAnswerIsSettledByTheOtherLink(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			r, p := proxied(t, chromiumtest.Shared(t))
			askingPages(r)
			k := r.task(messages.TaskID(fmt.Sprintf("settled-%d", i)), r.through(p), func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff })
			l := places["the page"](k)
			for round := range 20 {
				primary, _ := k.links(p)
				asking := k.waiting("", "ask('prompt')") // it ends with its link, or with the answer
				d := k.dialog()
				g := k.answers(d, 1, func() {
					<-time.After(time.Duration(round) * 100 * time.Microsecond)
					p.Kill(primary)
				})[0]
				<-asking
				if g.err != nil {
					t.Fatalf("round %d: %v", round, g.err)
				}
				k.wholeUnder(uint64(round) + 1)
				if got := k.runs(l, "got"); got != strconv.Quote(g.text) {
					t.Fatalf("round %d: the page got %s, not %q", round, got, g.text)
				}
				if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByAgent {
					t.Fatalf("round %d: %+v", round, c)
				}
			}
		})
	}
}
