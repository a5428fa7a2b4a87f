package holdfasttest

import (
	"context"
	"fmt"

	"holdfast/chaos"
	"holdfast/messages"
)

// Dialog is a dialog that a page has opened.
type Dialog struct{ dialog *chaos.Dialog }

// Wait waits until the dialog is closed, and returns what the page gets: whether it was
// accepted, and the text of a prompt. The error is ctx's.
func (d *Dialog) Wait(ctx context.Context) (isAccepted bool, text string, err error) {
	r, err := d.dialog.Wait(ctx)
	return r.IsAccepted, r.Text, err
}

// MainFrame is the main frame of a page, such as a snapshot's PageTargetID.
func (b *Browser) MainFrame(page messages.TargetID) messages.FrameID { return b.fake.MainFrame(page) }

// AddFrame adds an iframe that shows url; one of another site is out of process. It
// returns "" when there is no such parent.
func (b *Browser) AddFrame(parent messages.FrameID, url string) messages.FrameID {
	return b.fake.AddFrame(parent, url)
}

// RemoveFrame removes an iframe. The error says that there is none.
func (b *Browser) RemoveFrame(id messages.FrameID) error {
	return found(b.fake.RemoveFrame(id), "frame", string(id))
}

// OpenDialog opens a dialog in a frame, as soon as the frame's scripts can run. It
// returns nil when there is no such frame.
func (b *Browser) OpenDialog(frame messages.FrameID, kind messages.DialogType, message, defaultPrompt string) *Dialog {
	d := b.fake.OpenDialog(frame, chaos.DialogType(kind), message, defaultPrompt)
	if d == nil {
		return nil
	}
	return &Dialog{d}
}

// OpenPopup has a frame open a page, as window.open does. It returns "" when there is no
// such frame.
func (b *Browser) OpenPopup(opener messages.FrameID, url string) messages.TargetID {
	return b.fake.OpenPopup(opener, url)
}

// ConsoleError has a frame write an error to its console. The error returned says that
// there is no such frame.
func (b *Browser) ConsoleError(frame messages.FrameID, text string) error {
	return found(b.fake.LogError(frame, text), "frame", string(frame))
}

// Hang has the page's renderer answer nothing until Unhang. The error says that there is
// no such page.
func (b *Browser) Hang(page messages.TargetID) error {
	return found(b.fake.Spin(page), "page", string(page))
}

// Unhang ends what Hang has begun. The error says that there is no such page.
func (b *Browser) Unhang(page messages.TargetID) error {
	return found(b.fake.Unspin(page), "page", string(page))
}

// Crash kills the page's renderer. The error says that there is no such page.
func (b *Browser) Crash(page messages.TargetID) error {
	return found(b.fake.Crash(page), "page", string(page))
}

func found(isFound bool, what, id string) error {
	if isFound {
		return nil
	}
	return fmt.Errorf("holdfasttest: the browser has no %s %s", what, id)
}

// Disconnect cuts every connection to the browser, and returns how many there were. The
// node connects again.
func (b *Browser) Disconnect() int { return b.fake.DropConnections() }

// Kill ends the browser for good, without a word.
func (b *Browser) Kill() { b.fake.Kill() }
