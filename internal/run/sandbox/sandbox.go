package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// Sandbox is one script with its memory. It belongs to one goroutine at a time.
type Sandbox struct {
	module api.Module
	memory *memory
	host   func(string)
}

// ScriptError is an exception that no code of the script caught.
type ScriptError struct{ Text string }

// Error implements error.
func (e *ScriptError) Error() string { return e.Text }

// Close ends the sandbox and frees its memory.
func (s *Sandbox) Close() {
	_ = s.module.Close(context.Background())
	s.memory.release()
}

// Memory is how many bytes of memory the sandbox has.
func (s *Sandbox) Memory() int { return int(s.module.Memory().Size()) }

// Eval evaluates code, which is named file in traces, and runs the jobs that follow from it.
// The error is a [*ScriptError], [ErrMemory], or that of ctx, behind which the sandbox is of
// no use any more.
func (s *Sandbox) Eval(ctx context.Context, code, file string) error {
	in := s.in(ctx)
	text, err := s.newText(in, code)
	if err != nil {
		return ended(ctx, err)
	}
	name, err := s.newText(in, file)
	if err != nil {
		return ended(ctx, err)
	}
	value, err := s.call(in, "qjs_eval", text, uint64(len(code)), name, 0)
	if err != nil {
		return ended(ctx, err)
	}
	for _, p := range []uint64{text, name} {
		if _, err := s.call(in, "wasm_free", p); err != nil {
			return ended(ctx, err)
		}
	}
	if err := s.settle(in, value); err != nil {
		return ended(ctx, err)
	}
	return ended(ctx, s.runJobs(in))
}

// settle frees a value, or returns the exception that stands for it.
func (s *Sandbox) settle(ctx context.Context, value uint64) error {
	thrown, err := s.call(ctx, "qjs_is_exception", value)
	if err != nil {
		return err
	}
	if thrown == 0 {
		_, err = s.call(ctx, "qjs_free_value", value)
		return err
	}
	exception, err := s.call(ctx, "qjs_get_exception")
	if err != nil {
		return err
	}
	text, err := s.text(ctx, exception)
	if err != nil {
		return err
	}
	if _, err := s.call(ctx, "qjs_free_value", exception); err != nil {
		return err
	}
	return &ScriptError{Text: text}
}

// runJobs runs what promises have pending.
func (s *Sandbox) runJobs(ctx context.Context) error {
	for {
		pending, err := s.call(ctx, "qjs_is_job_pending")
		if err != nil || pending == 0 {
			return err
		}
		if _, err := s.call(ctx, "qjs_execute_pending_job"); err != nil {
			return err
		}
	}
}

// begin evaluates the first scripts, with the host's function in place, and returns the
// memory behind them.
func (s *Sandbox) begin(ctx context.Context, scripts string) (image, error) {
	in := s.in(ctx)
	if failed, err := s.call(in, "qjs_init"); err != nil || failed != 0 {
		return image{}, errors.Join(errors.New("QuickJS did not start"), err)
	}
	name, err := s.newText(in, hostFunction)
	if err != nil {
		return image{}, err
	}
	function, err := s.call(in, "qjs_new_host_function", name, uint64(len(hostFunction)), 0)
	if err != nil {
		return image{}, err
	}
	global, err := s.call(in, "qjs_get_global")
	if err != nil {
		return image{}, err
	}
	if _, err := s.call(in, "qjs_set_prop_string", global, name, function); err != nil {
		return image{}, err
	}
	if err := s.Eval(ctx, scripts, "scripts.js"); err != nil {
		return image{}, err
	}
	if _, err := s.call(in, "qjs_run_gc"); err != nil {
		return image{}, err
	}
	var im image
	if im.runtime, err = s.call(in, "qjs_get_runtime_ptr"); err != nil {
		return image{}, err
	}
	if im.context, err = s.call(in, "qjs_get_context_ptr"); err != nil {
		return image{}, err
	}
	all, _ := s.module.Memory().Read(0, s.module.Memory().Size())
	im.picture, err = newPicture(all)
	return im, err
}

// restore gives a fresh instance the memory of an image. Its stack is empty, as the image's
// was.
func (s *Sandbox) restore(ctx context.Context, im image) error {
	m := s.module.Memory()
	if missing := im.size - int(m.Size()); missing > 0 {
		if _, ok := m.Grow(uint32(missing / pageSize)); !ok {
			return ErrMemory
		}
	}
	if err := s.memory.show(im.picture); err != nil {
		return err
	}
	_, err := s.call(s.in(ctx), "qjs_set_runtime_and_context", im.runtime, im.context)
	return err
}

// called is the script's call of the host's function; its argument is a text. It returns
// undefined.
func (s *Sandbox) called(ctx context.Context, argc, argv uint32) uint32 {
	if argc > 0 {
		if value, ok := s.module.Memory().ReadUint32Le(argv); ok {
			text, err := s.text(ctx, uint64(value))
			if err != nil {
				panic(err) // the context has ended, which ends the call around this one too
			}
			s.host(text)
		}
	}
	undefined, err := s.call(ctx, "qjs_get_undefined")
	if err != nil {
		panic(err)
	}
	return uint32(undefined)
}

// in is ctx for calls of the sandbox: the host's functions find it there.
func (s *Sandbox) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, sandboxKey{}, s)
}

// call calls an exported function of quickjs-wasi, which has one result or none.
func (s *Sandbox) call(ctx context.Context, name string, args ...uint64) (uint64, error) {
	results, err := s.module.ExportedFunction(name).Call(ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if len(results) == 0 {
		return 0, nil
	}
	return results[0], nil
}

// newText puts a text into the sandbox's memory, with a zero behind it.
func (s *Sandbox) newText(ctx context.Context, text string) (uint64, error) {
	p, err := s.call(ctx, "wasm_malloc", uint64(len(text))+1)
	if err != nil {
		return 0, err
	}
	m := s.module.Memory()
	if p == 0 || !m.WriteString(uint32(p), text) || !m.WriteByte(uint32(p)+uint32(len(text)), 0) {
		return 0, ErrMemory
	}
	return p, nil
}

// text is the text of a value.
func (s *Sandbox) text(ctx context.Context, value uint64) (string, error) {
	p, err := s.call(ctx, "qjs_get_string", value)
	if err != nil || p == 0 {
		return "", err
	}
	m := s.module.Memory()
	rest, ok := m.Read(uint32(p), m.Size()-uint32(p))
	if !ok {
		return "", nil
	}
	n := bytes.IndexByte(rest, 0)
	if n < 0 {
		return "", nil
	}
	text := string(rest[:n])
	_, err = s.call(ctx, "qjs_free_cstring", p)
	return text, err
}
