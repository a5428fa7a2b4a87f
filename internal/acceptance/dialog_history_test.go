package acceptance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"holdfast/messages"
)

func TestD14_HistoryKeepsTheNewest20(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d14", policy(messages.PolicyAutoDismiss))
	k.goTo("http://a.test/plain")
	k.eval("", "for (let i = 0; i < 24; i++) confirm('c' + i)")
	k.closed("d-24")
	spec := k.spec()
	spec.DialogPolicy = messages.PolicyMustRespond
	if _, _, err := k.node.GetOrStart(k.ctx, k.id, spec); err != nil {
		t.Fatal(err)
	}
	k.later("", "confirm('c24')")
	k.dialog()
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept})

	recent := k.snapshot().RecentDialogs
	if len(recent) != 20 {
		t.Fatalf("%d records", len(recent))
	}
	for i, c := range recent {
		n, by := i+5, messages.ClosedByAutoPolicy
		if n == 24 {
			by = messages.ClosedByAgent
		}
		if c.ID != messages.NewDialogID(uint64(n+1)) || c.Message != "c"+strconv.Itoa(n) || c.ClosedBy != by || c.ClosedAt < c.OpenedAt {
			t.Errorf("record %d: %+v", i, c)
		}
		if i > 0 && c.ClosedAt < recent[i-1].ClosedAt {
			t.Errorf("record %d is older than the one before", i)
		}
	}
	t.Run("an id that history forgot was answered", func(t *testing.T) {
		_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: "d-1"})
		wantCode(t, err, messages.CodeDialogAlreadyAnswered)
	})
}

func TestD28_SecretsOfPagesAreMasked(t *testing.T) {
	t.Parallel()
	const key, pat = "sk-proj-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA", "ghp_0123456789abcdefghijABCDEFGHIJ456789"
	k := setup(t).task("d28")
	stream := k.watch()
	k.site.Set("/secret", `<title>/secret</title><script>function ask(){ window.got = prompt('your key is `+key+` ok?', '`+pat+`') }</script>`)
	k.goTo("http://a.test/secret")
	var sinks bytes.Buffer
	sink := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		sinks.Write(append(b, '\n'))
	}
	k.later("", "ask()")
	d := k.dialog()
	if !strings.HasPrefix(d.Message, "your key is ") || !strings.HasSuffix(d.Message, " ok?") {
		t.Errorf("what is no secret is not readable: %q", d.Message)
	}
	sink(k.snapshot())
	blocked := k.blocked()
	sink(wantCode(t, blocked, messages.CodeBlockedByDialog))
	_, unknown := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: "d-999"})
	sink(unknown)
	sink(k.respond(messages.DialogAnswer{Action: messages.ActionAccept}))
	if got := k.eval("", "window.got"); got != strconv.Quote(pat) {
		t.Errorf("the page received %s, not its own default", got)
	}
	sink(k.snapshot())
	k.later("", "console.error('leaked "+key+"'); confirm('again "+key+"')")
	k.dialog()
	stream.until("the console error", func(e messages.Event) bool { return e.Console != nil })
	stream.until("the second dialog", func(e messages.Event) bool { return e.Dialog != nil && e.Dialog.ID == "d-2" })
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
	sink(k.snapshot())
	sink(stream.seen)
	sinks.WriteString(k.log.String())
	for _, secret := range []string{key, pat, key[8:], pat[4:]} {
		for line := range strings.Lines(sinks.String()) {
			if strings.Contains(line, secret) {
				t.Errorf("%s is in %s", secret, line)
			}
		}
	}
}

// TestA17_HistoryIsBounded is not parallel: it looks at the memory of the
// whole process.
func TestA17_HistoryIsBounded(t *testing.T) {
	// The row speaks of 10,000; Chromium itself takes some 5 ms for each, and
	// what is not bounded shows with fewer.
	const alerts, full = 1_500, 400
	k := setup(t).task("a17", policy(messages.PolicyAutoDismiss))
	k.goTo("http://a.test/plain")
	k.later("", `for (let i = 0; i < 80; i++) console.error('error ' + i)`)
	memory := func() int64 {
		runtime.GC()
		runtime.GC() // what the first one finalised
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse)
	}
	// Every message is a thousand characters, so that keeping them would show.
	k.later("", fmt.Sprintf(`for (let i = 1; i <= %d; i++) alert('alert ' + i + '.'.repeat(1000))`, alerts))
	reached := func(n uint64) *messages.Snapshot {
		return k.await(fmt.Sprintf("dialog %d", n), func(s *messages.Snapshot) bool {
			i := len(s.RecentDialogs) - 1
			return i >= 0 && number(t, s.RecentDialogs[i].ID) >= n
		})
	}
	// By now every ring is full, the one of missed events too.
	for n := uint64(50); n <= full; n += 50 {
		reached(n)
	}
	early := memory()
	for n := uint64(full + 50); n < alerts; n += 50 {
		reached(n) // patience is for each of these
	}
	s := reached(alerts)
	late := memory()
	// Messages alone, kept, would be more than this.
	if grown := late - early; grown > (alerts-full)*1000 {
		t.Errorf("%d more dialogs cost %d KiB", alerts-full, grown>>10)
	}
	if len(s.RecentDialogs) != messages.MaxRecentDialogs || len(s.ConsoleErrors) != messages.MaxConsoleErrors {
		t.Errorf("%d dialogs and %d console errors are kept", len(s.RecentDialogs), len(s.ConsoleErrors))
	}
	for i, c := range s.RecentDialogs {
		if want := messages.NewDialogID(alerts - messages.MaxRecentDialogs + 1 + uint64(i)); c.ID != want || c.ClosedBy != messages.ClosedByAutoPolicy {
			t.Errorf("entry %d is %s closed by %s, want %s", i, c.ID, c.ClosedBy, want)
		}
	}
	if got := s.ConsoleErrors[messages.MaxConsoleErrors-1].Text; !strings.Contains(got, "error 79") {
		t.Errorf("the newest console error is %q", got)
	}
}

// number is the number in a dialog's id.
func number(t *testing.T, id messages.DialogID) (n uint64) {
	t.Helper()
	if _, err := fmt.Sscanf(string(id), "d-%d", &n); err != nil {
		t.Fatalf("dialog id %q", id)
	}
	return n
}
