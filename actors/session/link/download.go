package link

import "holdfast/actors/session/effect"

// download has the pages of a browser context save what they download in the task's own
// directory, and nowhere else; "" is the browser's own context. It is the link's
// setting, so every link makes it anew, before what an agent has set.
func (m *Primary) download(context string) {
	if m.downloads == "" {
		return
	}
	m.root(effect.Tag{Kind: effect.TagNone}, "Browser.setDownloadBehavior", struct {
		Behavior string `json:"behavior"`
		Path     string `json:"downloadPath"`
		Context  string `json:"browserContextId,omitempty"`
	}{"allow", m.downloads, context}, 0)
}
