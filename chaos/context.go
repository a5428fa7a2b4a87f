package chaos

import "holdfast/messages"

type contextParams struct {
	Context executionContext `json:"context"`
}

type executionContext struct {
	ID       int         `json:"id"`
	Origin   string      `json:"origin"`
	Name     string      `json:"name"`
	UniqueID string      `json:"uniqueId"`
	Aux      contextData `json:"auxData"`
}

type contextData struct {
	IsDefault bool             `json:"isDefault"`
	Type      string           `json:"type"`
	FrameID   messages.FrameID `json:"frameId"`
}

type destroyedParams struct {
	ID       int    `json:"executionContextId"`
	UniqueID string `json:"executionContextUniqueId"`
}

func (f *frame) contextParams() contextParams {
	from := origin(f.url)
	if f.isFresh && f.inherited != "" {
		from = f.inherited
	}
	return contextParams{executionContext{f.context, from, "", f.unique, contextData{true, "default", f.id}}}
}

// newContext makes f's default execution context; ids count per process.
func (b *Browser) newContext(f *frame) {
	p := f.target.proc
	p.contexts++
	f.context, f.unique = p.contexts, b.ids.unique()
	f.target.each(isRuntimeOn, "Runtime.executionContextCreated", f.contextParams())
}

func (b *Browser) endContext(f *frame) {
	if f.context == 0 {
		return
	}
	f.target.each(isRuntimeOn, "Runtime.executionContextDestroyed", destroyedParams{f.context, f.unique})
	f.context = 0
}
