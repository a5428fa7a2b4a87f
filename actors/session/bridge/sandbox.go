package bridge

import (
	"encoding/json"
	"strings"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A document whose sandbox does not allow modals gets no dialog, and Chrome alone
// knows: no script can find out. What can be found out is what made the sandbox: the
// attribute of the frame's element, which the session of its parent sees, and the
// document's own policy. A call from such a document is given back to Chrome, which
// returns at once and says why on the console; if that were wrong, a native dialog would
// open, without a policy or record.

// box is what is known of a sandbox.
type box uint8

const (
	boxUnknown box = iota
	boxOpen        // dialogs are allowed
	boxShut
)

// boxBudget is how long a call waits for that to become known.
const boxBudget = time.Second

const timerBox effect.TimerName = "box"

type frameParam struct {
	FrameID messages.FrameID `json:"frameId"`
}

// AskElement has the parent's session look at the element of a frame of another
// process.
func (b *Machine) AskElement(child messages.SessionID, target messages.TargetID) {
	if !b.isOn {
		return
	}
	if b.box == boxShut {
		b.tellBox(child, true) // all below are in the same one
		return
	}
	b.do(effect.Command{
		Session: b.Session, Tag: effect.Tag{Kind: TagOwner, Session: b.Session, Page: target}, Timeout: effect.AnswerBudget,
		Method: "DOM.getFrameOwner", Params: effect.Params(frameParam{messages.FrameID(target)}),
	})
	smallmap.Put(&b.asked, target, child)
}

func (b *Machine) ownerKnown(r effect.Replied) {
	var owner struct {
		Node int64 `json:"backendNodeId"`
	}
	if r.Err != nil || json.Unmarshal(r.Result, &owner) != nil {
		b.elementKnown(r.Tag.Page, false)
		return
	}
	b.do(effect.Command{
		Session: b.Session, Tag: effect.Tag{Kind: TagElement, Session: b.Session, Page: r.Tag.Page}, Timeout: effect.AnswerBudget,
		Method: "DOM.describeNode", Params: effect.Params(struct {
			Node int64 `json:"backendNodeId"`
		}{owner.Node}),
	})
}

func (b *Machine) elementDescribed(r effect.Replied) {
	b.elementKnown(r.Tag.Page, r.Err == nil && isSandboxed(r.Result))
}

func (b *Machine) elementKnown(target messages.TargetID, shut bool) {
	if child, ok := b.asked[target]; ok {
		delete(b.asked, target)
		b.tellBox(child, shut)
	}
}

func (b *Machine) tellBox(child messages.SessionID, shut bool) {
	b.do(effect.ToSupervisor{Msg: mail.FrameBoxed{Gen: b.Gen, Session: child, IsShut: shut}})
}

// Boxed is the word of the parent's session.
func (b *Machine) Boxed(shut bool) {
	b.box = boxOpen
	if shut {
		b.box = boxShut
	}
	b.maybeTell()
}

// askPolicy asks for the policy of the document that calls, the first time it does.
func (b *Machine) askPolicy(p *pause) {
	if known, ok := b.policies[p.context]; ok {
		p.policy = known
		return
	}
	b.do(effect.Command{
		Session: b.Session, Tag: effect.Tag{Kind: TagPolicy, Session: b.Session, Context: p.context}, Timeout: effect.AnswerBudget,
		Method: "Network.getSecurityIsolationStatus", Params: effect.Params(frameParam{p.frame}),
	})
}

func (b *Machine) policyKnown(r effect.Replied) {
	known := boxOpen
	if r.Err == nil && isSandboxedByPolicy(r.Result) {
		known = boxShut
	}
	if len(b.policies) >= maxBridged {
		clear(b.policies)
	}
	smallmap.Put(&b.policies, r.Tag.Context, known)
	if b.pause != nil && b.pause.context == r.Tag.Context {
		b.pause.policy = known
		b.maybeTell()
	}
}

// maybeTell tells of a call once it is known that it may open a dialog.
func (b *Machine) maybeTell() {
	p := b.pause
	switch {
	case p == nil || p.isKnown:
	case b.box == boxShut || p.policy == boxShut:
		p.isKnown, b.answered = true, p.Key
		b.dropTimer(timerBox)
		b.by.give(p.Pause, "", []byte("null"))
	case b.box == boxOpen && p.policy == boxOpen:
		b.tell()
	}
}

func (b *Machine) boxTimedOut() {
	if b.pause != nil && !b.pause.isKnown {
		b.tell()
	}
}

func (b *Machine) tell() {
	b.pause.isKnown = true
	b.dropTimer(timerBox)
	b.do(effect.ToDialog{Msg: b.pause.told})
}

// isSandboxed says whether an element is an iframe whose sandbox allows no
// modals.
func isSandboxed(result []byte) bool {
	var r struct {
		Node struct {
			Attributes []string `json:"attributes"`
		} `json:"node"`
	}
	if json.Unmarshal(result, &r) != nil {
		return false
	}
	for i := 0; i+1 < len(r.Node.Attributes); i += 2 {
		if r.Node.Attributes[i] == "sandbox" {
			return !allowsModals(strings.Fields(r.Node.Attributes[i+1]))
		}
	}
	return false
}

// isSandboxedByPolicy says whether a document's own policy puts it into such a sandbox.
func isSandboxedByPolicy(result []byte) bool {
	var r struct {
		Status struct {
			CSP []struct {
				Directives string `json:"effectiveDirectives"`
				Enforced   bool   `json:"isEnforced"`
			} `json:"csp"`
		} `json:"status"`
	}
	if json.Unmarshal(result, &r) != nil {
		return false
	}
	for _, p := range r.Status.CSP {
		for directive := range strings.SplitSeq(p.Directives, ";") {
			words := strings.Fields(directive)
			if p.Enforced && len(words) > 0 && strings.EqualFold(words[0], "sandbox") && !allowsModals(words[1:]) {
				return true
			}
		}
	}
	return false
}

func allowsModals(flags []string) bool {
	for _, f := range flags {
		if strings.EqualFold(f, "allow-modals") {
			return true
		}
	}
	return false
}
