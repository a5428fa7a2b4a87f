package guard

// Phase is one of the three times when an actor's Behavior is called.
type Phase string

// The phases of an actor's life, named after the Behavior's methods.
const (
	PhaseInit      Phase = "init"
	PhaseReceive   Phase = "receive"
	PhaseTerminate Phase = "terminate"
)

// Moment is a call of a Behavior that is about to be made.
type Moment struct {
	Kind, Key string
	Parent    string // the parent's key; empty for a root
	Phase     Phase
	Msg       any // of a Receive
}

// about lets the system's Intercept see the call that follows.
func (p *proc) about(phase Phase, msg any) {
	if p.sys.intercept == nil {
		return
	}
	m := Moment{Kind: p.spec.Kind, Key: p.spec.Key, Phase: phase, Msg: msg}
	if p.parent != nil {
		m.Parent = p.parent.spec.Key
	}
	p.sys.intercept(m)
}
