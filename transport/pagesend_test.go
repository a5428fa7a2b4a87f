package transport_test

import (
	"testing"
	"testing/synctest"

	"holdfast/chaos"
	"holdfast/messages"
	"holdfast/transport"
)

const attachToNone = `{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}`

// The last link that leaves has the connection hold no popup any more (C33), neither one that
// opens meanwhile nor one that opens later. The connection may then end, or be used again.
func TestTheLastLinkHasNoPopupHeld(t *testing.T) {
	onPages(t, chaos.Options{Pages: 1}, func(p *pageTest) {
		opener := p.browser.Pages()[0].Target
		runs := func(popup messages.TargetID, when string) {
			p.Helper()
			if page := p.page(popup); page.IsHeld || page.IsFrozen || p.page(opener).IsFrozen {
				p.Errorf("a popup that opens %s: %+v, its opener: %+v", when, page, p.page(opener))
			}
		}
		open := func() messages.TargetID {
			return p.browser.OpenPopup(p.browser.MainFrame(opener), "http://a.test/pop")
		}
		for range 20 {
			one, two := p.attached(), p.attached()
			two.must("", "Target.setAutoAttach", attachToNone)
			popup := open()
			synctest.Wait()
			if !p.page(popup).IsHeld {
				p.Fatal("a popup runs that a link has not decided about")
			}
			one.resume(popup)
			one.leave(popup)
			runs(popup, "while one link is left")
			ended := make(chan struct{})
			one.Start(transport.Call{Method: "Target.setAutoAttach", Params: []byte(attachToNone), Done: func(transport.Reply) { close(ended) }})
			meanwhile := open()
			<-ended
			runs(meanwhile, "as the last link leaves")
			runs(open(), "behind the last link")
			again := p.attached()
			held := open()
			synctest.Wait()
			if again.session(held); !again.held[held] {
				p.Error("a link that came later is not told of a popup that it holds")
			}
			again.resume(held)
			again.leave(held)
			again.must("", "Target.setAutoAttach", attachToNone)
			runs(held, "for a later link")
		}
	})
}
