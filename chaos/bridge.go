package chaos

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf16"
)

// bridge is what a task's script makes of a document's alert, confirm and prompt. It
// is known by the constants that it begins with; what it does is written again here,
// and held to the real one by chaos/recordings.
type bridge struct {
	seen, token, name string
	epoch             int
	words             string // off and on of each epoch from its own
	realm             string
	count             int
	last              int // the newest word on whether it is on
	isOff             bool
}

var (
	bridgeHead = regexp.MustCompile(`const seen = '([0-9a-f]+)', token = '([0-9a-f]+)', shares = '[0-9a-f]+', words = '([0-9a-f]+)', epoch = (\d+),`)
	bridgeFoot = regexp.MustCompile(`(?m)^//# sourceURL=([0-9A-Za-z]+)$`)
	bridgeOff  = regexp.MustCompile(`(?s)^.*\bfor \(const f of \[(?:w\.)?alert, (?:w\.)?confirm, (?:w\.)?prompt\]\) \{ const heard = f\['([0-9a-f]+)'\]; if \(heard\) heard\(\) \}.*$`)
)

// bridgeOf reads what a script is; nil for any other than a bridge's.
func bridgeOf(source string) (k *bridge, epoch int) {
	head, foot := bridgeHead.FindStringSubmatch(source), bridgeFoot.FindStringSubmatch(source)
	if head == nil || foot == nil {
		return nil, 0
	}
	epoch = atoi(head[4])
	return &bridge{seen: head[1], token: head[2], words: head[3], name: foot[1], epoch: epoch, last: epoch}, epoch
}

// wordSize is that of one of a bridge's words.
const wordSize = 16

// hear is a word that turns it off or on, if it is one of its own.
func (k *bridge) hear(word string) {
	for at := 0; at+wordSize <= len(k.words); at += wordSize {
		if i := at / wordSize; k.words[at:at+wordSize] == word {
			k.control(k.epoch+i/2, i%2 == 1)
		}
	}
}

func (k *bridge) control(epoch int, on bool) {
	if epoch >= k.last {
		k.last, k.isOff = epoch, !on
	}
}

// inject runs a script in f's document.
func (b *Browser) inject(f *frame, source string) {
	k, epoch := bridgeOf(source)
	if k == nil {
		if args := bridgeOff.FindStringSubmatch(source); args != nil {
			f.turn(args[1])
		}
		return
	}
	f.parsed = append(f.parsed, k.name)
	f.target.each(isDebugging, "Debugger.scriptParsed", f.scriptParams(k.name))
	if old := f.bridge(k.seen); old != nil {
		old.control(epoch, true)
		return
	}
	k.realm = fmt.Sprintf("%017d", b.ids.next()%1e17)
	f.bridges = append(f.bridges, k)
}

// injectAll runs what the sessions of f's target have for each new document.
func (b *Browser) injectAll(f *frame) {
	for _, s := range f.target.sessions {
		if s.isPageInRenderer {
			for _, x := range s.scripts {
				b.inject(f, x.source)
			}
		}
	}
}

func (f *frame) bridge(seen string) *bridge {
	for _, k := range f.bridges {
		if k.seen == seen {
			return k
		}
	}
	return nil
}

// turn is the expression that turns a document's bridge on or off.
func (f *frame) turn(word string) {
	for _, k := range f.bridges {
		k.hear(word)
	}
}

// bridgedCall is a call of alert, confirm or prompt that the bridges of its document
// handle, the newest first.
type bridgedCall struct {
	d      *Dialog
	k      *bridge
	below  []*bridge
	key    string
	tries  int
	answer json.RawMessage
	by     DialogResult
	// isUnseen: whose answer it is has had no debugger here for a moment since it was given.
	isUnseen bool
}

// askBridged has the bridges of d's document ask; false says that there are none.
func (b *Browser) askBridged(d *Dialog, bridges []*bridge) bool {
	for i, k := range slices.Backward(bridges) {
		if !k.isOff {
			k.count++
			b.try(&bridgedCall{d: d, k: k, below: bridges[:i], key: fmt.Sprintf("%s.%d", k.realm, k.count)})
			return true
		}
	}
	return false
}

// attempts is how often a call asks that is resumed without an answer.
const attempts = 3

func (b *Browser) try(c *bridgedCall) {
	f := c.d.frame
	for c.tries < attempts {
		c.tries++
		p := &pause{call: c, params: pausedParams{Reason: "other", Hit: []string{}, Frames: []pausedFrame{{
			ID: b.callFrameID(f), Function: "stop", Scopes: []empty{}, Restarts: true,
			This: remoteObject{Type: "string", Value: c.says()},
		}}}}
		if b.stop(f, c.k.name, p) {
			c.d.waits = p
			return
		}
	}
	b.finish(c.d, DialogResult{By: ClosedByNothing, IsAlone: c.by.IsAlone})
}

// says is what the call says of itself; lengths are in UTF-16 units.
func (c *bridgedCall) says() string {
	units := func(s string) int { return len(utf16.Encode([]rune(s))) }
	d := c.d
	return fmt.Sprintf("%s%s %s %d %d %s%s%s", c.k.token, c.key, d.kind, units(d.frame.url), units(d.message), d.frame.url, d.message, d.prompt)
}

// resumed is the script of c after the debugger.
func (b *Browser) resumed(c *bridgedCall) {
	d := c.d
	d.waits = nil
	switch string(c.answer) {
	case "":
		b.try(c)
	case "null":
		if !b.askBridged(d, c.below) {
			b.showNative(d)
		}
	default:
		r := c.by
		r.IsAccepted = string(c.answer) == "true"
		switch {
		case d.kind == Prompt && r.IsAccepted:
			r.Text = d.prompt
		case d.kind == Prompt:
			r.IsAccepted = json.Unmarshal(c.answer, &r.Text) == nil
		}
		b.finish(d, r)
	}
}

// asks are the dialogs of a page that wait over a bridge, in the order of its
// targets.
func (b *Browser) asks(page *page) []*Dialog {
	var list []*Dialog
	for _, t := range b.targets {
		if t.page == page && t.pause != nil && t.pause.call != nil {
			list = append(list, t.pause.call.d)
		}
	}
	return list
}

// answerable are the sessions that can answer a call that waits: those with a
// debugger whose client knows the bridge.
func (p *pause) answerable() []*session {
	knows := func(c *Conn) bool {
		return slices.ContainsFunc(c.sessions, func(s *session) bool {
			return slices.ContainsFunc(s.scripts, func(x script) bool {
				k, _ := bridgeOf(x.source)
				return k != nil && k.seen == p.call.k.seen
			})
		})
	}
	var list []*session
	for _, s := range p.target.sessions {
		if isDebugging(s) && knows(s.conn) {
			list = append(list, s)
		}
	}
	return list
}
