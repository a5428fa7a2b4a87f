package messages

import (
	"encoding/json"
	"slices"
)

// PageChange is the set of a page's fields that a page_changed event is about. In
// JSON it is a list of the fields' names in a snapshot.
type PageChange uint8

// The fields of a page that may change.
const (
	PageURLChanged PageChange = 1 << iota
	PageTitleChanged
	PageStateChanged
	PageSessionChanged
	PageBridgeChanged
	PageRestoringChanged
)

// pageFields are the names of the bits, the lowest first.
var pageFields = [...]string{"url", "title", "page_state", "session_id", "bridge", "restoring"}

// PageChangeOf compares two states of one page.
func PageChangeOf(was, is *Page) PageChange {
	var c PageChange
	for bit, differs := range [...]bool{
		was.URL != is.URL, was.Title != is.Title, was.PageState != is.PageState, was.SessionID != is.SessionID, was.Bridge != is.Bridge,
		!slices.Equal(was.Restoring, is.Restoring),
	} {
		if differs {
			c |= 1 << bit
		}
	}
	return c
}

// Fields are the names of the fields in the set.
func (c PageChange) Fields() []string {
	var out []string
	for bit, name := range pageFields {
		if c&(1<<bit) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// MarshalJSON implements [json.Marshaler].
func (c PageChange) MarshalJSON() ([]byte, error) { return json.Marshal(c.Fields()) }

// UnmarshalJSON implements [json.Unmarshaler]. A name it does not know is of a
// newer node, and is left out.
func (c *PageChange) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return err
	}
	*c = 0
	for _, name := range names {
		if bit := slices.Index(pageFields[:], name); bit >= 0 {
			*c |= 1 << bit
		}
	}
	return nil
}
