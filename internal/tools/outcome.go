package tools

// The words for what an action did to the page.
const (
	didNavigate = "navigated"
	didDialog   = "dialog"
	didPopup    = "popup"
	didDownload = "download"
	didNothing  = "nothing"
)

// actionOutput is the data of every action.
type actionOutput struct {
	Outcome string `json:"outcome"`
	// URL is where the page is after a navigation.
	URL string `json:"url,omitempty"`
	// PopupTabID is the tab that the action opened.
	PopupTabID string `json:"popup_tab_id,omitempty"`
	// FileChooser is the file input that the action opened the browser's chooser for.
	FileChooser *fileChooser `json:"file_chooser,omitempty"`
	// IsClosedList says that a combobox has the focus and no open list (W18).
	IsClosedList bool `json:"list_closed,omitempty"`
	// ClickDispatch says whether a trusted event reached the element (W15).
	ClickDispatch string `json:"click_dispatch,omitempty"`
}

// fileChooser is what a file input takes.
type fileChooser struct {
	Selector   string `json:"selector"`
	IsMultiple bool   `json:"multiple"`
}

// words says the outcome for a text.
func (o actionOutput) words() string {
	switch o.Outcome {
	case didNavigate:
		if o.URL != "" {
			return "navigated to " + o.URL
		}
		return "a navigation began and has brought no document yet; it may be a download, or wait for it with browser_wait_for"
	case didDialog:
		return "a dialog opened: answer it with browser_dialog"
	case didPopup:
		return "opened tab " + o.PopupTabID
	case didDownload:
		return "a download began"
	case didNothing:
		return "no navigation"
	}
	return o.Outcome
}
