package live_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// manner is how a link is killed.
type manner string

const (
	byReset  manner = "reset"     // RST on both sides
	byFinish manner = "fin"       // FIN without a close frame
	byOrder  manner = "order"     // the node's own chaos order
	halfOpen manner = "half-open" // nothing passes any more; the keepalive has to notice
	slowly   manner = "slow"      // every chunk is late for a while, then RST
)

// happening is what the page does while its link is killed.
type happening string

const (
	nothing  happening = "nothing"
	aSwap    happening = "swap"  // the iframe moves to another process
	aPopup   happening = "popup" // it may be held by the link that dies (C33)
	aFrame   happening = "frame" // another iframe comes, the last such one goes
	aReturns happening = "home"  // the iframe moves into the page's own process and out again
)

// kill is one step of a plan.
type kill struct {
	target  messages.Links
	manner  manner
	dialog  chaos.DialogType // "" for none
	inFrame bool             // the dialog is the out-of-process iframe's
	world   happening        // none while a dialog is open: those pages stand still
	think   time.Duration    // what the agents wait before they answer
	gap     time.Duration    // between the two links of both
	reverse bool             // the anchor first
}

func (k kill) String() string {
	s := fmt.Sprintf("%s of %s", k.manner, k.target)
	if k.target == messages.LinksBoth && k.gap > 0 {
		s += fmt.Sprintf(" %s apart", k.gap)
		if k.reverse {
			s += ", the anchor first"
		}
	}
	if k.dialog != "" {
		where := "page"
		if k.inFrame {
			where = "iframe"
		}
		return s + fmt.Sprintf(" while the %s asks (%s), answers after %s", where, k.dialog, k.think)
	}
	return s + fmt.Sprintf(" (%s)", k.world)
}

// plan is n kills, half of them with a dialog open.
func plan(seed, stream uint64, n int) []kill {
	roll := rand.New(rand.NewPCG(seed, stream))
	list := make([]kill, n)
	for i := range list {
		k := kill{
			target:  pick(roll, messages.LinksPrimary, messages.LinksPrimary, messages.LinksAnchor, messages.LinksBoth),
			manner:  pick(roll, byReset, byReset, byFinish, byOrder, byOrder, halfOpen, slowly),
			world:   nothing,
			think:   time.Duration(roll.IntN(40)) * time.Millisecond,
			gap:     time.Duration(roll.IntN(30)) * time.Millisecond,
			reverse: roll.IntN(2) == 0,
		}
		if i%2 == int(stream)%2 {
			k.dialog = pick(roll, chaos.Prompt, chaos.Prompt, chaos.Confirm, chaos.Alert)
			k.inFrame = roll.IntN(2) == 0
		} else {
			k.world = pick(roll, nothing, aSwap, aPopup, aFrame, aReturns)
		}
		list[i] = k
	}
	return list
}

func pick[T any](roll *rand.Rand, of ...T) T { return of[roll.IntN(len(of))] }
