package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// cdp runs a raw command that must succeed.
func (w *world) cdp(id messages.TaskID, frame messages.FrameID, method, params string) string {
	w.Helper()
	res, err := w.node.CDP(w.ctx, id, messages.CDPRequest{Method: method, Params: json.RawMessage(params), FrameID: frame})
	if err != nil {
		w.Fatalf("%s %s: %v", method, params, err)
	}
	return string(res.Result)
}

func (w *world) addScript(frame messages.FrameID, source string) (id string) {
	w.Helper()
	var r struct{ Identifier string }
	if err := json.Unmarshal([]byte(w.cdp("t", frame, "Page.addScriptToEvaluateOnNewDocument", fmt.Sprintf(`{"source":%q}`, source))), &r); err != nil {
		w.Fatal(err)
	}
	return r.Identifier
}

func (w *world) removeScript(frame messages.FrameID, id string) error {
	_, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{
		Method: "Page.removeScriptToEvaluateOnNewDocument", Params: fmt.Appendf(nil, `{"identifier":%q}`, id), FrameID: frame,
	})
	return err
}

func TestWhatTheTaskWanted(t *testing.T) {
	t.Parallel()

	const (
		viewport = `{"width":321,"height":234,"deviceScaleFactor":2,"mobile":false}`
		timezone = `{"timezoneId":"Pacific/Auckland"}`
		headers  = `{"headers":{"X-Agent":"1"}}`
	)

	inWorld(t, "twenty kills, and it is there, of the page, its frame and the browser", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		synctest.Wait()
		w.cdp("t", "", "Emulation.setDeviceMetricsOverride", viewport)
		w.cdp("t", "", "Network.enable", `{}`)
		w.cdp("t", "", "Network.setExtraHTTPHeaders", headers)
		w.cdp("t", frame, "Emulation.setTimezoneOverride", timezone)
		w.cdp("t", "", "Browser.grantPermissions", `{"permissions":["geolocation"]}`)
		one, two := w.addScript("", "one"), w.addScript("", "two")
		w.addScript(frame, "three")
		w.cdp("t", "", "Emulation.setEmulatedMedia", `{"media":"print"}`)
		for i := range 20 {
			w.b.DropConnections()
			if s := w.snapshot("t"); s.State != messages.StateActive || s.Connection.WantedTruncated {
				w.Fatalf("kill %d: %+v", i+1, s)
			}
			for target, want := range map[messages.TargetID]map[string]string{
				page: {
					"Emulation.setDeviceMetricsOverride": viewport, "Network.enable": `{}`, "Network.setExtraHTTPHeaders": headers,
					"Emulation.setEmulatedMedia": `{"media":"print"}`,
				},
				messages.TargetID(frame): {"Emulation.setTimezoneOverride": timezone},
				"":                       {"Browser.grantPermissions": `{"permissions":["geolocation"]}`},
			} {
				if got := w.b.Settings(target); !maps.Equal(got, want) {
					w.Fatalf("kill %d: target %q has %v, want %v", i+1, target, got, want)
				}
			}
			if got := w.b.Scripts(page); !slices.Equal(got, []string{"one", "two"}) {
				w.Fatalf("kill %d: scripts %q", i+1, got)
			}
			if got := w.b.Scripts(messages.TargetID(frame)); !slices.Equal(got, []string{"three"}) {
				w.Fatalf("kill %d: scripts of the frame %q", i+1, got)
			}
		}
		// The identifiers are those the agent was given.
		if err := w.removeScript("", one); err != nil {
			w.Fatal(err)
		}
		w.b.DropConnections()
		w.snapshot("t")
		if four := w.addScript("", "four"); four == one || four == two {
			w.Errorf("identifier %s was given before", four)
		}
		if err := w.removeScript("", two); err != nil {
			w.Fatal(err)
		}
		w.want(messages.CodeCDPError, w.removeScript("", one))
		w.cdp("t", "", "Emulation.clearDeviceMetricsOverride", `{}`)
		w.b.DropConnections()
		w.snapshot("t")
		if got := w.b.Scripts(page); !slices.Equal(got, []string{"four"}) {
			w.Errorf("scripts %q", got)
		}
		if _, there := w.b.Settings(page)["Emulation.setDeviceMetricsOverride"]; there {
			w.Error("what was taken back is there again")
		}
	})

	inWorld(t, "what was answered the moment before a kill is known", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		for i := range 50 {
			zone := fmt.Sprintf(`{"timezoneId":"%d"}`, i)
			w.cdp("t", "", "Emulation.setTimezoneOverride", zone)
			w.b.DropConnections() // not a moment later
			w.snapshot("t")
			if got := w.b.Settings(page)["Emulation.setTimezoneOverride"]; got != zone {
				w.Fatalf("kill %d: %q", i+1, got)
			}
		}
	})

	inWorld(t, "a command that lost its link is not sent again", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		for _, c := range w.b.Connections() {
			c.SwallowNextReply("Emulation.setTimezoneOverride")
		}
		got := begin(w, func(ctx context.Context) (messages.CDPResult, error) {
			return w.node.CDP(ctx, "t", messages.CDPRequest{Method: "Emulation.setTimezoneOverride", Params: []byte(timezone), TimeoutS: 100})
		})
		w.b.DropConnections()
		o := <-got
		w.want(messages.CodeUpstreamUnavailable, o.err)
		w.snapshot("t")
		if got := w.b.Settings(page); len(got) != 0 {
			w.Errorf("the page has %v", got)
		}
	})

	inWorld(t, "a release gives the page back what was set", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		synctest.Wait()
		w.cdp("t", "", "Emulation.setTimezoneOverride", timezone)
		w.addScript("", "one")
		w.b.OpenDialog(frame, chaos.Confirm, "sure?", "")
		synctest.Wait()
		w.b.RemoveFrame(frame)
		time.Sleep(10 * time.Second)
		if s := w.snapshot("t"); s.PageState != messages.PageOK {
			w.Fatalf("page %s", s.PageState)
		}
		if got := w.b.Settings(page)["Emulation.setTimezoneOverride"]; got != timezone {
			w.Errorf("the page has %q", got)
		}
		if got := w.b.Scripts(page); !slices.Equal(got, []string{"one"}) {
			w.Errorf("scripts %q", got)
		}
	})

	inWorld(t, "a crash doubles nothing", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		w.addScript("", "one")
		w.b.Crash(page)
		synctest.Wait()
		w.b.DropConnections() // attached to while it is dead
		time.Sleep(5 * time.Second)
		w.cdp("t", "", "Page.reload", `{}`)
		w.snapshot("t")
		w.b.Crash(page)
		synctest.Wait()
		w.cdp("t", "", "Page.reload", `{}`)
		if s := w.snapshot("t"); s.PageState != messages.PageOK {
			w.Fatalf("page %s", s.PageState)
		}
		if got := w.b.Scripts(page); !slices.Equal(got, []string{"one"}) {
			w.Errorf("scripts %q", got)
		}
	})

	// A script for new documents that comes after the document has missed it.
	inWorld(t, "a navigation waits for it, though the page is said to hang", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything, alone).PageTargetID
		w.addScript("", "one")
		w.b.Spin(page)
		w.b.DropConnections()
		time.Sleep(2 * time.Second)
		if s := w.snapshot("t"); s.PageState != messages.PageHung {
			w.Fatalf("the page is %s", s.PageState)
		}
		said := make(chan error, 1)
		go func() {
			_, err := w.node.Navigate(w.ctx, "t", messages.NavigateRequest{URL: "http://b.test/p"})
			said <- err
		}()
		synctest.Wait()
		sent := func() bool {
			return slices.Contains(w.b.Connections()[0].Received("*"), "Page.navigate")
		}
		if sent() {
			w.Error("the navigation has overtaken it")
		}
		time.Sleep(time.Second) // within its budget
		began := time.Now()
		w.b.Unspin(page)
		if err := <-said; err != nil || time.Since(began) > 100*time.Millisecond {
			w.Errorf("navigate: %v, after %s", err, time.Since(began))
		}
		if got := w.b.Scripts(page); !slices.Equal(got, []string{"one"}) || !sent() {
			w.Errorf("the page has %q", got)
		}
	})

	inWorld(t, "what is too much is said", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		big := w.addScript("", strings.Repeat("x", 2<<20))
		if s := w.snapshot("t"); !s.Connection.WantedTruncated {
			w.Errorf("connection %+v", s.Connection)
		}
		if err := w.removeScript("", big); err != nil {
			w.Error(err)
		}
		if got := w.b.Scripts(page); len(got) != 0 {
			w.Errorf("%d scripts", len(got))
		}
	})

	inWorld(t, "another browser's pages get nothing of the old ones", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", own, w.discovered)
		w.cdp("t", "", "Emulation.setTimezoneOverride", timezone)
		w.addScript("", "one")
		w.b.Restart()
		time.Sleep(5 * time.Second)
		page := w.snapshot("t").PageTargetID
		if got := w.b.Settings(page); len(got) != 0 || len(w.b.Scripts(page)) != 0 {
			w.Errorf("the new page has %v and %q", got, w.b.Scripts(page))
		}
	})
}

func TestWhatIsRefusedOnTheNextSessionIsSaid(t *testing.T) {
	t.Parallel()
	inWorldWith(t, "once a session", chaos.Options{Pages: 1}, ownSockets, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.cdp("t", "", "Emulation.setLocaleOverride", `{"locale":"de-DE"}`)
		first := w.b.Connections()
		w.start("other", everything)
		w.b.RefuseConnections(true)
		for _, c := range first {
			c.Drop()
		}
		synctest.Wait()
		w.cdp("other", messages.FrameID(page), "Emulation.setLocaleOverride", `{"locale":"fr-FR"}`)
		w.b.RefuseConnections(false)
		time.Sleep(10 * time.Second)
		if s := w.snapshot("t"); s.State != messages.StateActive {
			w.Errorf("state %s", s.State)
		}
		if n := w.lines.count("did not take again"); n != 1 {
			w.Errorf("said %d times", n)
		}
		// It is wanted still.
		if err := w.node.StopTask(w.ctx, "other"); err != nil {
			w.Fatal(err)
		}
		w.b.DropConnections()
		w.snapshot("t")
		if got := w.b.Settings(page)["Emulation.setLocaleOverride"]; got != `{"locale":"de-DE"}` {
			w.Errorf("the page has %s", got)
		}
	})
}

// C61: the end of an old link's sessions comes late, and takes along what they had
// emulated, also where the new ones have set it since.
func TestAnOldLinkThatEndsLateTakesNothingAlong(t *testing.T) {
	t.Parallel()
	inWorldWith(t, "half-open", chaos.Options{Pages: 1}, chaotic, func(w *world) {
		page := w.start("t", everything, alone).PageTargetID
		want := map[string]string{
			"Emulation.setDeviceMetricsOverride": `{"width":333,"height":234,"deviceScaleFactor":2,"mobile":false}`,
			"Emulation.setTimezoneOverride":      `{"timezoneId":"Asia/Tokyo"}`,
			"Emulation.setLocaleOverride":        `{"locale":"de-DE"}`,
			"Network.setExtraHTTPHeaders":        `{"headers":{"X-Agent":"1"}}`,
		}
		for _, method := range slices.Sorted(maps.Keys(want)) {
			w.cdp("t", "", method, want[method])
		}
		old := w.b.Connections()[0]
		old.Linger()
		if _, err := w.node.Kill(w.ctx, "t", messages.LinksPrimary); err != nil {
			w.Fatal(err)
		}
		s := w.snapshot("t")
		if got := s.Pages[0].Restoring; !slices.Equal(got, []string{"Emulation.setLocaleOverride", "Emulation.setTimezoneOverride"}) {
			w.Errorf("while the old link stands: restoring %q", got)
		}
		time.Sleep(3 * time.Second)
		old.Resume()
		synctest.Wait()
		if got := w.b.Settings(page); got["Emulation.setDeviceMetricsOverride"] != "" {
			w.Errorf("the fake does not clear what the old session had: %v", got)
		}
		time.Sleep(3 * time.Second)
		if got := w.b.Settings(page); !maps.Equal(got, want) {
			w.Errorf("the page has %v, want %v", got, want)
		}
		if got := w.snapshot("t").Pages[0].Restoring; got != nil {
			w.Errorf("restoring %q still", got)
		}
		if n := w.lines.count("did not take again"); n == 0 {
			w.Errorf("said %d times", n)
		}
	})

	inWorldWith(t, "what an agent sets anew is not restored any more", chaos.Options{Pages: 1}, chaotic, func(w *world) {
		page := w.start("t", everything, alone).PageTargetID
		w.cdp("t", "", "Emulation.setLocaleOverride", `{"locale":"de-DE"}`)
		old := w.b.Connections()[0]
		old.Linger()
		if _, err := w.node.Kill(w.ctx, "t", messages.LinksPrimary); err != nil {
			w.Fatal(err)
		}
		if got := w.snapshot("t").Pages[0].Restoring; len(got) != 1 {
			w.Fatalf("restoring %q", got)
		}
		old.Resume()
		synctest.Wait()
		w.cdp("t", "", "Emulation.setLocaleOverride", `{"locale":"fr-FR"}`)
		if got := w.snapshot("t").Pages[0].Restoring; got != nil {
			w.Errorf("restoring %q", got)
		}
		time.Sleep(2 * time.Minute)
		if got := w.b.Settings(page)["Emulation.setLocaleOverride"]; got != `{"locale":"fr-FR"}` {
			w.Errorf("the page has %s", got)
		}
	})
}

// What is set for a frame is restored to its site alone.
func TestAFramesHeadersReachNoOtherSite(t *testing.T) {
	t.Parallel()
	inWorld(t, "home and away", chaos.Options{Pages: 1}, func(w *world) {
		const secret = `{"headers":{"Authorization":"Bearer bank"}}`
		page := w.start("t", everything).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		synctest.Wait()
		w.cdp("t", frame, "Network.setExtraHTTPHeaders", secret)
		headers := func() string {
			w.snapshot("t")
			return w.b.Settings(messages.TargetID(frame))["Network.setExtraHTTPHeaders"]
		}
		w.b.NavigateFrame(frame, "http://a.test/home") // into its parent's process: its session ends
		w.snapshot("t")
		w.b.NavigateFrame(frame, "http://evil.test/")
		time.Sleep(2 * time.Minute)
		if got := headers(); got != "" {
			w.Errorf("another site was given %s", got)
		}
		w.b.DropConnections()
		time.Sleep(2 * time.Minute)
		if got := headers(); got != "" {
			w.Errorf("another site was given %s behind a reconnect", got)
		}
		w.b.NavigateFrame(frame, "http://a.test/home")
		w.snapshot("t")
		w.b.NavigateFrame(frame, "http://www.b.test/y")
		if got := headers(); got != secret {
			w.Errorf("its own site has %q", got)
		}
	})
}
