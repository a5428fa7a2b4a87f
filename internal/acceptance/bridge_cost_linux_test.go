package acceptance_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// costly is a page that makes a script of each of 20,000 texts, and runs a loop in
// WebAssembly 200 million times: what a debugger makes slower. Each says its own time, in ms.
const costly = `<title>/costly</title><script>
	function timed(work) { const begun = performance.now(); work(); return performance.now() - begun }
	// Texts that no document before has had: V8 keeps what it has compiled.
	function evals() { let sum = 0; const salt = Math.random(); return timed(() => { for (let i = 0; i < 20000; i++) sum += eval(i + '+' + salt) }) }
	function loops() {
		const code = new Uint8Array([0x00,0x61,0x73,0x6d,1,0,0,0, 1,6,1,0x60,1,0x7f,1,0x7f, 3,2,1,0, 7,5,1,1,0x66,0,0,
			0x0a,0x1b,1,0x19,1,1,0x7f, 0x03,0x40,0x20,1,0x20,0,0x6a,0x21,1,0x20,0,0x41,1,0x6b,0x22,0,0x0d,0,0x0b,0x20,1,0x0b]);
		const f = new WebAssembly.Instance(new WebAssembly.Module(code)).exports.f;
		return timed(() => f(200000000));
	}
</script>`

// What the bridge by the debugger costs a page that makes scripts without end, and one that
// lives in WebAssembly, beside the same page with native dialogs, each in turn.
func TestFigure_CostOfTheBridge(t *testing.T) { // beside no other test: it measures
	rounds := 1
	if testing.Verbose() { // as make figures asks for them
		rounds = 9
	}
	r := setupOn(t, chromiumtest.Launch(t))
	r.site.Set("/costly", costly)
	type cost struct{ page, node time.Duration }
	measured := map[string][2][]cost{} // by what, native and bridged
	tasks := [2]*task{
		r.task("cost-native", func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff }),
		r.task("cost-bridged", bridged),
	}
	for range rounds {
		for _, what := range []string{"evals()", "loops()"} {
			for i, k := range tasks {
				k.goTo("http://a.test/costly") // each in a fresh document
				begun := cpu(t)
				ms, err := strconv.ParseFloat(k.eval("", what), 64)
				if err != nil || ms <= 0 {
					t.Fatalf("%s took %v ms (%v)", what, ms, err)
				}
				both := measured[what]
				both[i] = append(both[i], cost{time.Duration(ms * float64(time.Millisecond)), cpu(t) - begun})
				measured[what] = both
			}
		}
	}
	of := func(costs []cost, what func(cost) time.Duration) string {
		all := make([]time.Duration, len(costs))
		for i, c := range costs {
			all[i] = what(c).Round(100 * time.Microsecond)
		}
		slices.Sort(all)
		return fmt.Sprintf("%v (%v … %v)", all[len(all)/2], all[0], all[len(all)-1])
	}
	inPage, inNode := func(c cost) time.Duration { return c.page }, func(c cost) time.Duration { return c.node }
	for _, w := range []struct{ what, name string }{{"evals()", "20,000 evals"}, {"loops()", "a loop in WebAssembly"}} {
		native, on := measured[w.what][0], measured[w.what][1]
		var ratios []float64
		for i := range native {
			ratios = append(ratios, float64(on[i].page)/float64(native[i].page))
		}
		slices.Sort(ratios)
		t.Logf("figure: %s: in the page %s natively, %s over the bridge, %.2f times (n=%d); CPU of the node %s and %s", w.name,
			of(native, inPage), of(on, inPage), ratios[len(ratios)/2], rounds, of(native, inNode), of(on, inNode))
	}
}

// cpu is what this process has used, a node with all it measures.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
