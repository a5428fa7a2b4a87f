package messages

import "strings"

// BlockerType is what a page asks its browser for, or what keeps it from being shown, besides
// dialogs.
type BlockerType string

// The types of blockers.
const (
	BlockerBasicAuth   BlockerType = "basic_auth"   // the site wants a name and a password
	BlockerCertificate BlockerType = "certificate"  // the site's certificate does not hold
	BlockerFileChooser BlockerType = "file_chooser" // the page wants files
	BlockerPermission  BlockerType = "permission"   // the page asks for something it may not do yet
	BlockerPrint       BlockerType = "print"        // the page asks to be printed
	BlockerPDF         BlockerType = "pdf"          // the browser shows a PDF, which no snapshot reads
	BlockerHuman       BlockerType = "human"        // an agent asks a person
)

// BlockerOf is the type of blocker that an error page is, by the status of the answer, the page's
// kind and its error; "" is none.
func BlockerOf(status int, about, code string) BlockerType {
	code = strings.TrimPrefix(code, "net::")
	switch {
	case status == 401, code == "ERR_INVALID_AUTH_CREDENTIALS", code == "HTTP ERROR 401":
		return BlockerBasicAuth
	case about == "SSL", strings.HasPrefix(code, "ERR_CERT_"):
		return BlockerCertificate
	}
	return ""
}

// BlockerID names a blocker within its task.
type BlockerID string

// BlockerPolicy says what happens to blockers of one type.
type BlockerPolicy string

// The policies.
const (
	BlockersLeave   BlockerPolicy = "browser" // left to the browser, which says nothing of it
	BlockersAsk     BlockerPolicy = "ask"     // shown until a caller answers
	BlockersAccept  BlockerPolicy = "accept"  // accepted at once, and told
	BlockersDismiss BlockerPolicy = "dismiss" // dismissed at once, and told
)

// BlockerPolicies say what happens to blockers, by type. Sites that want a password and PDFs are
// always shown: no page waits for them.
type BlockerPolicies struct {
	// Certificate accept has the task's pages shown in spite of their certificates. The
	// default is ask.
	Certificate BlockerPolicy `json:"certificate,omitempty" jsonschema:"enum=ask,enum=accept"`
	// FileChooser ask keeps the browser's chooser closed and shows who wants files; dismiss
	// cancels it. The default is browser.
	FileChooser BlockerPolicy `json:"file_chooser,omitempty" jsonschema:"enum=browser,enum=ask,enum=dismiss"`
	// Permission ask has pages wait that ask for a permission. The default is browser, which
	// denies most of them where there is no window.
	Permission BlockerPolicy `json:"permission,omitempty" jsonschema:"enum=browser,enum=ask,enum=accept,enum=dismiss"`
	// Print ask shows that a page wants to be printed, dismiss ignores it. The default is
	// browser.
	Print BlockerPolicy `json:"print,omitempty" jsonschema:"enum=browser,enum=ask,enum=dismiss"`
}

// AskAboutBlockers are the policies by which a caller is asked about everything.
func AskAboutBlockers() *BlockerPolicies {
	return &BlockerPolicies{Certificate: BlockersAsk, FileChooser: BlockersAsk, Permission: BlockersAsk, Print: BlockersAsk}
}

func (p *BlockerPolicies) validate() error {
	if p == nil {
		return nil
	}
	for _, f := range []struct {
		name   string
		is     BlockerPolicy
		others []BlockerPolicy
	}{
		{"certificate", p.Certificate, []BlockerPolicy{BlockersAccept}},
		{"file_chooser", p.FileChooser, []BlockerPolicy{BlockersLeave, BlockersDismiss}},
		{"permission", p.Permission, []BlockerPolicy{BlockersLeave, BlockersAccept, BlockersDismiss}},
		{"print", p.Print, []BlockerPolicy{BlockersLeave, BlockersDismiss}},
	} {
		isKnown := f.is == "" || f.is == BlockersAsk
		for _, o := range f.others {
			isKnown = isKnown || f.is == o
		}
		if !isKnown {
			return Errorf(CodeInvalidArgument, "blockers: %s cannot be %q", f.name, string(f.is[:min(len(f.is), 32)]))
		}
	}
	return nil
}

// Of is the policy for a type, its default where nothing is said.
func (p *BlockerPolicies) Of(t BlockerType) BlockerPolicy {
	said := BlockerPolicy("")
	if p != nil {
		switch t {
		case BlockerCertificate:
			said = p.Certificate
		case BlockerFileChooser:
			said = p.FileChooser
		case BlockerPermission:
			said = p.Permission
		case BlockerPrint:
			said = p.Print
		}
	}
	if said != "" {
		return said
	}
	switch t {
	case BlockerFileChooser, BlockerPermission, BlockerPrint:
		return BlockersLeave
	}
	return BlockersAsk
}

// Blocker is what a page asks its browser for, or what keeps it from being shown.
type Blocker struct {
	// ID names the blocker within the task.
	ID BlockerID `json:"id"`
	// Type says what it is.
	Type BlockerType `json:"type"`
	// Message says it in words. Addresses and names in it come from the page.
	Message string `json:"message"`
	// URL is the address that is not shown, or that of the page that asks.
	URL string `json:"url"`
	// Origin is that of the frame that asks.
	Origin string `json:"origin,omitempty"`
	// Permission names what is asked for, with commas between several.
	Permission string `json:"permission,omitempty"`
	// IsMultiple says that a file chooser takes several files.
	IsMultiple bool `json:"multiple,omitempty"`
	// BackendNodeID is the file input, for DOM.setFileInputFiles.
	BackendNodeID int64 `json:"backend_node_id,omitempty"`
	// Reason is the browser's own word, such as net::ERR_CERT_DATE_INVALID.
	Reason string `json:"reason,omitempty"`
	// OpenedAt is when it was seen.
	OpenedAt Seconds `json:"opened_at"`
	// FrameID is the frame that asks; that of the page or of a frame with a process of its own
	// where the browser does not say which below it.
	FrameID FrameID `json:"frame_id,omitempty"`
	// TargetID is the page that asks; absent where an agent asks a person.
	TargetID TargetID `json:"target_id,omitempty"`
	// ExpiresAt is when the watchdog dismisses it; absent where nothing waits.
	ExpiresAt Seconds `json:"expires_at,omitempty"`
}

// ClosedBlocker is a blocker of the past.
type ClosedBlocker struct {
	// ID names the blocker within the task.
	ID BlockerID `json:"id"`
	// Type says what it was.
	Type BlockerType `json:"type"`
	// URL is the address that was not shown, or that of the page that asked.
	URL string `json:"url"`
	// TargetID is the page that asked.
	TargetID TargetID `json:"target_id,omitempty"`
	// OpenedAt is when it was seen.
	OpenedAt Seconds `json:"opened_at"`
	// ClosedAt is when it ended.
	ClosedAt Seconds `json:"closed_at"`
	// ClosedBy is what ended it: remote where its page went elsewhere.
	ClosedBy ClosedBy `json:"closed_by"`
	// Action is the answer, where one was given.
	Action Action `json:"action,omitempty"`
	// Text is what a person wrote to the agent that asked.
	Text string `json:"text,omitempty"`
}

// BlockerAnswer is the answer to a blocker.
type BlockerAnswer struct {
	// BlockerID names the blocker.
	BlockerID BlockerID `json:"blocker_id"`
	// Action accepts or dismisses it.
	Action Action `json:"action"`
	// By says who answers; the default is agent. Where an agent asks a person, only a person
	// accepts.
	By Answerer `json:"by,omitempty"`
	// Text is what a person writes to the agent that asks, at most [MaxHumanText] bytes.
	Text string `json:"text,omitempty" jsonschema:"maxLength=10000"`
}

// BlockerReply is what comes of an answer to a blocker.
type BlockerReply struct {
	// Blocker is the blocker that has ended.
	Blocker ClosedBlocker `json:"blocker"`
}

// MaxHumanText bounds what a person writes to an agent, and MaxHumanReason what an agent asks, in
// bytes.
const (
	MaxHumanText   = 10_000
	MaxHumanReason = 2000
)

// Validate checks the answer. The error is an [*Error] with [CodeInvalidArgument].
func (a BlockerAnswer) Validate() error {
	if err := CheckOpaqueID("blocker_id", string(a.BlockerID)); err != nil {
		return err
	}
	if a.BlockerID == "" {
		return Errorf(CodeInvalidArgument, "blocker_id is missing")
	}
	if a.Action != ActionAccept && a.Action != ActionDismiss {
		return Errorf(CodeInvalidArgument, "action must be accept or dismiss")
	}
	if a.By != "" && a.By != AnswererAgent && a.By != AnswererHuman {
		return Errorf(CodeInvalidArgument, "by must be agent or human")
	}
	if len(a.Text) > MaxHumanText {
		return Errorf(CodeInvalidArgument, "text is longer than %d bytes", MaxHumanText)
	}
	return nil
}
