package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

const (
	pageSize = 64 << 10
	// MaxMemory bounds the memory of one sandbox, in bytes.
	MaxMemory = 64 << 20
	// hostFunction is the name of the host's function in a script.
	hostFunction = "host"
)

// Engine makes sandboxes. It is safe for concurrent use.
type Engine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	image   image
}

// image is the memory of a sandbox in which the first scripts have been evaluated.
type image struct {
	*picture
	runtime, context uint64 // QuickJS's own pointers
}

// NewEngine compiles QuickJS and evaluates the scripts that every sandbox begins with. While
// they run, the host's function answers nothing. It takes about a second; ctx ends it.
func NewEngine(ctx context.Context, wasm []byte, scripts string) (_ *Engine, err error) {
	// Checks in every loop end a script at once, and let the garbage collector stop the
	// world while one runs: compiled code is not preempted otherwise.
	e := &Engine{runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithCloseOnContextDone(true).WithMemoryLimitPages(MaxMemory/pageSize))}
	defer func() {
		if err != nil {
			_ = e.Close()
		}
	}()
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, e.runtime); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	if err = exportHost(ctx, e.runtime); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	if e.module, err = e.runtime.CompileModule(ctx, wasm); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s, err := e.instantiate(ctx, func(string) {})
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	defer s.Close()
	if e.image, err = s.begin(ctx, scripts); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return e, nil
}

// Close ends the engine and every sandbox of it.
func (e *Engine) Close() error {
	if e.image.picture != nil {
		e.image.close()
	}
	return e.runtime.Close(context.Background())
}

// Open returns a new sandbox. Host is called with what its script passes to the host's
// function, on the goroutine that has called the sandbox. The sandbox has to be closed.
func (e *Engine) Open(ctx context.Context, host func(string)) (*Sandbox, error) {
	s, err := e.instantiate(ctx, host)
	if err != nil {
		return nil, ended(ctx, err)
	}
	if err := s.restore(ctx, e.image); err != nil {
		s.Close()
		return nil, ended(ctx, err)
	}
	return s, nil
}

func (e *Engine) instantiate(ctx context.Context, host func(string)) (*Sandbox, error) {
	memory, err := newMemory()
	if err != nil {
		return nil, err
	}
	s := &Sandbox{host: host, memory: memory}
	ctx = experimental.WithMemoryAllocator(s.in(ctx), experimental.MemoryAllocatorFunc(func(uint64, uint64) experimental.LinearMemory { return memory }))
	module, err := e.runtime.InstantiateModule(ctx, e.module,
		wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithSysWalltime().WithSysNanotime())
	if err != nil {
		memory.release()
		return nil, err
	}
	s.module = module
	return s, nil
}

// sandboxKey is where a context has the sandbox that calls out.
type sandboxKey struct{}

// exportHost makes the module env that quickjs-wasi imports. A script loads no module, has
// no time zone but UTC, and is ended by its context, not by QuickJS.
func exportHost(ctx context.Context, r wazero.Runtime) error {
	nothing := func(context.Context, uint32, uint32) uint32 { return 0 }
	_, err := r.NewHostModuleBuilder("env").
		NewFunctionBuilder().WithFunc(nothing).Export("host_get_timezone_offset").
		NewFunctionBuilder().WithFunc(func(context.Context) uint32 { return 0 }).Export("host_interrupt").
		NewFunctionBuilder().WithFunc(func(context.Context, uint32, uint32, uint32) {}).Export("host_promise_rejection").
		NewFunctionBuilder().WithFunc(nothing).Export("host_module_normalize").
		NewFunctionBuilder().WithFunc(nothing).Export("host_module_load").
		NewFunctionBuilder().WithFunc(func(ctx context.Context, _ api.Module, _, _, _, argc, argv uint32) uint32 {
		return ctx.Value(sandboxKey{}).(*Sandbox).called(ctx, argc, argv)
	}).Export("host_call").
		Instantiate(ctx)
	return err
}

// ErrMemory is the end of a script that needed more memory than it may have.
var ErrMemory = errors.New("the script needs more memory than it may have")

// ended is err, or the reason why ctx ended the sandbox.
func ended(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	return err
}
