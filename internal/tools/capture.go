package tools

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"holdfast/internal/tools/outline"
	"holdfast/messages"
)

// The bounds of reading a page.
const (
	captureBudget   = 10 * time.Second
	captureFrames   = 200 // frames with processes of their own
	captureParallel = 8
)

// captured is a page with its frames, as they were at one moment.
type captured struct {
	root   *outline.Document
	places map[*outline.Document]place
	// missing counts the frames that could not be read.
	missing int
	// unreachable is the address in place of which the browser shows a page of its own; "" is none.
	unreachable string
}

// frameTree is a FrameTree of CDP.
type frameTree struct {
	Frame struct {
		ID       messages.FrameID `json:"id"`
		LoaderID string           `json:"loaderId"`
		// Unreachable is the address in place of which the browser shows a page of its own.
		Unreachable string `json:"unreachableUrl"`
	} `json:"frame"`
	Children []frameTree `json:"childFrames"`
}

// each visits every frame of the tree with its parent.
func (t frameTree) each(parent messages.FrameID, visit func(id, parent messages.FrameID, loader string)) {
	visit(t.Frame.ID, parent, t.Frame.LoaderID)
	for _, c := range t.Children {
		c.each(t.Frame.ID, visit)
	}
}

// localFrames asks a session for the frames of its process.
func (c *call) localFrames(ctx context.Context, session messages.FrameID) (frameTree, error) {
	var got struct {
		FrameTree frameTree `json:"frameTree"`
	}
	err := c.cdp(ctx, session, "Page.getFrameTree", struct{}{}, &got, captureBudget)
	return got.FrameTree, err
}

// part is what one session shows of a page.
type part struct {
	session  messages.FrameID
	parent   messages.FrameID // of the frame, in another session
	document *outline.Document
	loaders  map[messages.FrameID]string
	owner    int64
	// unreachable is that of the session's own frame.
	unreachable string

	err error
}

// capture reads the page and all its frames. A frame that cannot be read is left out; a page
// that cannot is an error.
func (c *call) capture(ctx context.Context) (*captured, error) {
	target, err := c.page()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, captureBudget)
	defer cancel()
	snap, err := c.node.Snapshot(c.task, messages.SnapshotOptions{TargetID: target, Full: true})
	if err != nil {
		return nil, err
	}
	parts := []*part{{}}
	within := map[messages.FrameID]messages.FrameID{} // the session of each frame of another process
	missing := 0
	if snap.FrameTree != nil {
		for _, f := range snap.FrameTree.Children {
			switch {
			case !f.IsOOPIF:
				within[f.FrameID] = within[f.ParentFrameID]
			case len(parts) > captureFrames:
				missing++
			default:
				within[f.FrameID] = f.FrameID
				parts = append(parts, &part{session: f.FrameID, parent: f.ParentFrameID})
			}
		}
	}
	var all sync.WaitGroup
	turn := make(chan struct{}, captureParallel)
	for _, p := range parts {
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			c.capturePart(ctx, p, within[p.parent])
		})
	}
	all.Wait()
	if parts[0].err != nil {
		return nil, parts[0].err
	}
	out := &captured{root: parts[0].document, places: map[*outline.Document]place{}, missing: missing, unreachable: parts[0].unreachable}
	out.add(target, parts[0])
	for _, p := range parts[1:] {
		if p.err != nil || !out.hasPlaced(p) {
			out.missing++
			continue
		}
		out.add(target, p)
	}
	return out, nil
}

// capturePart reads what one session shows. parent is the session that holds the frame.
func (c *call) capturePart(ctx context.Context, p *part, parent messages.FrameID) {
	var (
		tree    frameTree
		treeErr error
		asking  sync.WaitGroup
		raw     json.RawMessage
	)
	defer asking.Wait()
	asking.Go(func() { tree, treeErr = c.localFrames(ctx, p.session) })
	if p.err = c.cdp(ctx, p.session, "DOMSnapshot.captureSnapshot", map[string]any{"computedStyles": outline.Styles}, &raw, captureBudget); p.err != nil {
		return
	}
	if p.document, p.err = outline.Decode(raw); p.err != nil {
		p.err = messages.Errorf(messages.CodeCDPError, "the browser's capture of the page cannot be read")
		return
	}
	asking.Wait()
	if p.err = treeErr; treeErr != nil {
		return
	}
	p.loaders, p.unreachable = map[messages.FrameID]string{}, tree.Frame.Unreachable
	tree.each("", func(id, _ messages.FrameID, loader string) { p.loaders[id] = loader })
	if p.session != "" {
		p.owner, p.err = c.ownerOf(ctx, parent, p.session)
	}
}

// ownerOf asks the session of the parent for the element that holds a frame.
func (c *call) ownerOf(ctx context.Context, parent, frame messages.FrameID) (int64, error) {
	var got struct {
		Backend int64 `json:"backendNodeId"`
	}
	err := c.cdp(ctx, parent, "DOM.getFrameOwner", map[string]any{"frameId": frame}, &got, captureBudget)
	return got.Backend, err
}

// hasPlaced puts the document of another process into that of its parent, and says whether that is there.
func (p *captured) hasPlaced(of *part) bool {
	for d := range p.places {
		if d.FrameID == string(of.parent) {
			d.Frames[of.owner] = of.document
			return true
		}
	}
	return false
}

// add notes where the documents of one session are.
func (p *captured) add(target messages.TargetID, of *part) {
	var walk func(d *outline.Document, depth int)
	walk = func(d *outline.Document, depth int) {
		id := messages.FrameID(d.FrameID)
		p.places[d] = place{target, of.session, id, of.loaders[id]}
		for _, child := range d.Frames {
			if _, ok := p.places[child]; !ok && depth < 64 {
				walk(child, depth+1)
			}
		}
	}
	walk(of.document, 0)
}

// refs gives the elements of the page their numbers.
func (p *captured) refs(m *memory) outline.Refs {
	return func(d *outline.Document, backend int64, role, name string) int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.refs.give(p.places[d], backend, role, name)
	}
}

// find returns the document of a frame; nil where there is none.
func (p *captured) find(frame messages.FrameID) *outline.Document {
	for d, at := range p.places {
		if at.frame == frame {
			return d
		}
	}
	return nil
}
