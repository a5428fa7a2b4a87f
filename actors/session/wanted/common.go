package wanted

import "holdfast/messages"

// common are the slots of a page that the browser empties as soon as any client's
// session on the page ends, whichever has filled them.
var common = map[string]bool{
	"Emulation.EmulatedMedia": true, "Network.emulateNetworkConditions": true,
	"Network.emulateNetworkConditionsByRule": true, "Network.overrideNetworkState": true,
}

// HasCommon says whether something stands on the page that the end of another
// client's session takes back.
func (s *State) HasCommon(page messages.TargetID) bool {
	t := s.target(page)
	return t != nil && t.isLive && len(t.common()) > 0
}

func (t *target) common() (items []*item) {
	for _, i := range t.kept {
		if common[i.key] && (i.isSet || i.isPending) {
			items = append(items, i)
		}
	}
	return items
}

// Renew returns the commands to send again on a session of a page that another session has
// left. It expects the outcome of each as Begin does. Changes is for Overtaken.
func (s *State) Renew(p Place) (commands []Command, changes uint64) {
	t := s.target(p.Target)
	if t == nil || !t.isSame(p) || !t.isLive {
		return nil, 0
	}
	return s.attempt(t, t.common()), t.changes
}

// IsOvertaken says whether an agent has set something else since Renew, which what
// Renew returned may have come after.
func (s *State) IsOvertaken(p Place, changes uint64) bool {
	t := s.target(p.Target)
	return t != nil && t.isSame(p) && t.changes != changes
}
