package cli

import (
	"strings"

	"holdfast/messages"
)

// wholeID is the length of Chrome's ids of targets and frames.
const wholeID = 32

// named completes the ids that the command line gives in short: each may be the
// beginning of an id, if one page or frame alone has it. frameURL, a part of a
// frame's URL, stands for its id. The node is only asked where there is need.
func (r *run) named(id messages.TaskID, target, frame, frameURL string) (messages.TargetID, messages.FrameID, error) {
	if frame != "" && frameURL != "" {
		return "", "", usagef("--frame and --frame-url name the same thing: give one of them")
	}
	isWhole := func(s string) bool { return s == "" || len(s) >= wholeID }
	if isWhole(target) && isWhole(frame) && frameURL == "" {
		return messages.TargetID(target), messages.FrameID(frame), nil
	}
	node, err := r.clientThat(nil)
	if err != nil {
		return "", "", err
	}
	defer node.Close()
	s, err := node.Snapshot(r, id, messages.SnapshotOptions{})
	if err != nil {
		return "", "", err
	}
	if !isWhole(target) {
		var ids []string
		for _, p := range s.Pages {
			ids = append(ids, string(p.TargetID))
		}
		if target, err = completed("page", target, ids); err != nil {
			return "", "", err
		}
	}
	if isWhole(frame) && frameURL == "" {
		return messages.TargetID(target), messages.FrameID(frame), nil
	}
	full, err := node.Snapshot(r, id, messages.SnapshotOptions{TargetID: messages.TargetID(target), Full: true})
	if err != nil {
		return "", "", err
	}
	frame, err = frameNamed(full.FrameTree, frame, frameURL)
	return messages.TargetID(target), messages.FrameID(frame), err
}

// frameNamed finds a frame of the page by the beginning of its id, or by a part of
// its URL.
func frameNamed(tree *messages.FrameTree, frame, frameURL string) (string, error) {
	if tree == nil {
		return frame, nil // the node says what is wrong
	}
	if frameURL == "" {
		ids := []string{string(tree.Top.FrameID)}
		for _, f := range tree.Children {
			ids = append(ids, string(f.FrameID))
		}
		return completed("frame", frame, ids)
	}
	var found []string
	if strings.Contains(tree.Top.URL, frameURL) {
		found = append(found, string(tree.Top.FrameID))
	}
	for _, f := range tree.Children {
		if strings.Contains(f.URL, frameURL) {
			found = append(found, string(f.FrameID))
		}
	}
	switch len(found) {
	case 0:
		return "", usagef("no frame of the page has %q in its URL", frameURL)
	case 1:
		return found[0], nil
	}
	return "", usagef("%d frames of the page have %q in their URLs: %s", len(found), frameURL, strings.Join(found, ", "))
}

// completed is the one id that begins with start. Where none does, start itself is
// returned: the node knows better what it is.
func completed(what, start string, ids []string) (string, error) {
	var found []string
	for _, id := range ids {
		if id == start {
			return start, nil
		}
		if len(id) >= len(start) && strings.EqualFold(id[:len(start)], start) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return start, nil
	case 1:
		return found[0], nil
	}
	return "", usagef("%d ids of a %s begin with %q: %s", len(found), what, start, strings.Join(found, ", "))
}
