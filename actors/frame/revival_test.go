package frame_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"holdfast/actors/frame"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestACrashedPageComesBackWithoutItsOldFrames: a session that was attached to a
// dead renderer hears nothing of the document that revives it; the first tree
// it is given tells.
func TestACrashedPageComesBackWithoutItsOldFrames(t *testing.T) {
	t.Parallel()
	m := frame.NewMachine(1)
	var shown *messages.FrameTree
	step := func(in any) {
		effects := slices.Clone(m.Step(time.Unix(1000, 0), in))
		effects = append(effects, m.Step(time.Unix(1000, 0), frame.Flush{})...)
		for _, e := range effects {
			if e, ok := e.(frame.ToSupervisor); ok {
				if c, ok := e.Msg.(mail.FramesChanged); ok {
					shown = c.Tree
				}
			}
		}
	}
	step(mail.TargetAttached{Gen: 1, Session: "S", Page: "T", Info: mail.TargetInfo{ID: "T", Type: "page"}})
	step(mail.TargetAttached{Gen: 1, Session: "S2", Via: "S", Page: "T", Info: mail.TargetInfo{ID: "F", Type: "iframe", ParentFrame: "T"}})
	step(mail.FrameTreeLoaded{Gen: 1, Session: "S2", Page: "T", Frames: []mail.FrameInfo{{ID: "F", Parent: "T", Loader: "L2", URL: "http://b.test/"}}})
	if len(shown.Children) != 1 {
		t.Fatalf("before: %+v", shown)
	}
	step(mail.TargetDetached{Gen: 1, Session: "S2", Via: "S"}) // the page is navigated, which brings it back
	step(mail.FrameTreeLoaded{Gen: 1, Session: "S", Page: "T", Frames: []mail.FrameInfo{{ID: "T", Loader: "L3", URL: "http://a.test/"}}})
	if len(shown.Children) != 0 {
		t.Errorf("a frame of the old document is left: %+v", shown.Children)
	}
	// The same document's tree says nothing of a frame whose session was lost.
	step(mail.TargetAttached{Gen: 1, Session: "S3", Via: "S", Page: "T", Info: mail.TargetInfo{ID: "G", Type: "iframe", ParentFrame: "T"}})
	step(mail.TargetDetached{Gen: 1, Session: "S3", Via: "S"})
	step(mail.FrameTreeLoaded{Gen: 1, Session: "S", Page: "T", Frames: []mail.FrameInfo{{ID: "T", Loader: "L3", URL: "http://a.test/"}}})
	if len(shown.Children) != 1 {
		t.Errorf("a frame between sessions is gone: %+v", shown.Children)
	}
}

// TestANewSessionTakesOldFramesAlong: the removal of a frame, or of its whole document, was in
// the mailbox of a session's actor that failed. The page's next session tells what there is.
func TestANewSessionTakesOldFramesAlong(t *testing.T) {
	t.Parallel()
	for name, loader := range map[string]string{"of the same document": "L1", "of the document before": "L2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := frame.NewMachine(1)
			var shown *messages.FrameTree
			step := func(in any) {
				effects := slices.Clone(m.Step(time.Unix(1000, 0), in))
				effects = append(effects, m.Step(time.Unix(1000, 0), frame.Flush{})...)
				for _, e := range effects {
					if e, ok := e.(frame.ToSupervisor); ok {
						if c, ok := e.Msg.(mail.FramesChanged); ok {
							shown = c.Tree
						}
					}
				}
			}
			page := func(s messages.SessionID) mail.TargetAttached {
				return mail.TargetAttached{Gen: 1, Session: s, Page: "T", Info: mail.TargetInfo{ID: "T", Type: "page"}}
			}
			iframe := func(s, via messages.SessionID, f messages.TargetID) mail.TargetAttached {
				return mail.TargetAttached{Gen: 1, Session: s, Via: via, Page: "T", Info: mail.TargetInfo{ID: f, Type: "iframe", ParentFrame: "T"}}
			}
			step(page("S"))
			step(mail.FrameTreeLoaded{Gen: 1, Session: "S", Page: "T", Frames: []mail.FrameInfo{{ID: "T", Loader: "L1", URL: "http://a.test/"}}})
			step(iframe("S2", "S", "GONE"))
			step(iframe("S3", "S", "THERE"))

			step(mail.TargetDetached{Gen: 1, Session: "S"})
			step(page("R"))
			step(iframe("S4", "R", "THERE"))
			step(mail.FrameTreeLoaded{Gen: 1, Session: "R", Page: "T", Frames: []mail.FrameInfo{{ID: "T", Loader: loader, URL: "http://a.test/"}}})
			if len(shown.Children) != 1 || shown.Children[0].FrameID != "THERE" || shown.Children[0].SessionID != "S4" {
				t.Errorf("frames %+v", shown.Children)
			}
		})
	}
}

// TestANewForestIsToldWhatTheLastOneWasToldLast: the frame actor has failed with
// an attach and a detach in its mailbox, and what the iframe told of itself.
func TestANewForestIsToldWhatTheLastOneWasToldLast(t *testing.T) {
	t.Parallel()
	m := frame.NewMachine(1)
	var shown *messages.FrameTree
	var unheard []messages.SessionID
	step := func(in any) {
		effects := slices.Clone(m.Step(time.Unix(1000, 0), in))
		effects = append(effects, m.Step(time.Unix(1000, 0), frame.Flush{})...)
		for _, e := range effects {
			if e, ok := e.(frame.ToSupervisor); ok {
				switch f := e.Msg.(type) {
				case mail.FramesChanged:
					shown = f.Tree
				case mail.FramesUnheard:
					unheard = append(unheard, f.Session)
				}
			}
		}
	}
	iframe := func(s messages.SessionID, f messages.TargetID) mail.TargetAttached {
		return mail.TargetAttached{Gen: 1, Session: s, Via: "S", Page: "T", Info: mail.TargetInfo{ID: f, Type: "iframe", ParentFrame: "T"}}
	}
	step(mail.TargetAttached{Gen: 1, Session: "S", Page: "T", Info: mail.TargetInfo{ID: "T", Type: "page"}})
	step(iframe("GONE", "F")) // as far as the supervisor knows
	// The new one's own session is faster than the page's.
	tree := mail.FrameTreeLoaded{Gen: 1, Session: "NEW", Page: "T", Frames: []mail.FrameInfo{{ID: "G", Parent: "T", Loader: "M", URL: "http://b.test/"}}}
	step(tree)
	step(mail.TargetsAttached{Gen: 1, Session: "S", Targets: []mail.TargetAttached{iframe("NEW", "G")}})
	step(mail.FrameTreeLoaded{Gen: 1, Session: "S", Page: "T", Frames: []mail.FrameInfo{{ID: "T", Loader: "L", URL: "http://a.test/"}}})
	if !slices.Equal(unheard, []messages.SessionID{"NEW"}) {
		t.Errorf("%v are to tell again", unheard)
	}
	step(tree)
	if len(shown.Children) != 1 || shown.Children[0].FrameID != "G" || shown.Children[0].SessionID != "NEW" || shown.Children[0].URL != "http://b.test/" {
		t.Errorf("frames %+v", shown.Children)
	}
}

// TestAnIframesSessionMayBeFasterThanItsParents: an iframe of another process is
// attached to, and tells of itself, before the page has told of the frame in its own
// process that it stands in.
func TestAnIframesSessionMayBeFasterThanItsParents(t *testing.T) {
	t.Parallel()
	attached := mail.TargetAttached{Gen: 1, Session: "F", Via: "P", Page: "P", Info: mail.TargetInfo{ID: "F", Type: "iframe", ParentFrame: "IN"}}
	without := attached
	without.Info.ParentFrame = ""
	page := mail.FrameTreeLoaded{Gen: 1, Session: "P", Page: "P", Frames: []mail.FrameInfo{{ID: "P"}, {ID: "IN", Parent: "P"}}}
	iframe := mail.FrameTreeLoaded{Gen: 1, Session: "F", Page: "P", Frames: []mail.FrameInfo{{ID: "F", Parent: "IN"}}}
	for name, inputs := range map[string][]any{
		"in its own time":                       {page, attached, iframe},
		"attached before":                       {attached, page, iframe},
		"its tree before":                       {attached, iframe, page},
		"its tree before, which alone tells":    {without, iframe, page},
		"gone and back":                         {attached, mail.FrameDetached{Gen: 1, Session: "F", Frame: "F"}, attached, iframe, page},
		"gone before its parent":                {attached, mail.FrameDetached{Gen: 1, Session: "F", Frame: "F"}, page, attached, iframe},
		"the page's own tree, and then another": {attached, iframe, mail.FrameTreeLoaded{Gen: 1, Session: "P", Page: "P", Frames: []mail.FrameInfo{{ID: "P"}}}, page},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := frame.NewMachine(1)
			var tree *messages.FrameTree
			for _, in := range append([]any{mail.TargetAttached{Gen: 1, Session: "P", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}}}, append(inputs, frame.Flush{})...) {
				for _, e := range m.Step(time.Unix(1000, 0), in) {
					if e, ok := e.(frame.ToSupervisor); ok {
						if c, ok := e.Msg.(mail.FramesChanged); ok {
							tree = c.Tree
						}
					}
				}
			}
			got := map[messages.FrameID]messages.FrameID{}
			for _, n := range tree.Children {
				got[n.FrameID] = n.ParentFrameID
			}
			if want := map[messages.FrameID]messages.FrameID{"IN": "P", "F": "IN"}; !maps.Equal(got, want) {
				t.Errorf("parents %v, want %v", got, want)
			}
		})
	}
}
