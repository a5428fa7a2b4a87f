package acceptance_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image/jpeg"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdfast/internal/artifact"
	"holdfast/messages"
)

func TestT30_ScreenshotsAreSmallEnoughForAModel(t *testing.T) {
	t.Parallel()
	h := acting(t, "t30")
	for input, isLow := range map[string]bool{`{}`: false, `{"full_page":true}`: false, `{"selector":"#goal"}`: true} {
		r := h.use("browser_take_screenshot", input)
		if len(r.Artifacts) != 1 {
			t.Fatalf("%s: %+v", input, r)
		}
		a := r.Artifacts[0]
		raw, err := base64.StdEncoding.DecodeString(a.Base64)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := jpeg.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", input, err)
		}
		size := picture.Bounds()
		if size.Dx() != a.Width || size.Dy() != a.Height || a.Width > 1024 || a.Height > 1024 || a.Size > 150<<10 || len(a.SHA256) != 64 || isLow != (a.Height <= 40) {
			t.Errorf("%s: %d × %d, %d bytes", input, a.Width, a.Height, a.Size)
		}
		if isLow {
			red, _, blue, _ := picture.At(size.Dx()/2, 3).RGBA()
			if blue < 0xc000 || red > 0x4000 {
				t.Errorf("the picture is not of the blue box: %x %x", red, blue)
			}
		}
	}
	if r := h.use("browser_take_screenshot", `{"type":"png","selector":"#goal"}`); r.Artifacts[0].MIMEType != "image/png" {
		t.Errorf("%+v", r.Data)
	}
}

// Chromium draws a page behind another one only for the second picture (C69).
func TestT30_APictureOfAnyTabComesAtOnce(t *testing.T) {
	t.Parallel()
	h := acting(t, "t30-tabs")
	r := h.use("browser_tabs", `{"action":"new","name":"second","url":"`+h.site.URL("http://a.test/plain")+`"}`)
	h.use("browser_evaluate", `{"tab":"main","expression":"void window.open('/plain')"}`) // in front of its opener
	for range 3 {
		for _, tab := range []string{"main", "second", "t3"} {
			begun := time.Now()
			h.use("browser_take_screenshot", `{"tab":"`+tab+`"}`)
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("a picture of tab %s takes %v", tab, took)
			}
		}
	}
	// A client of the gateway, or raw CDP, has no second request.
	second := messages.TargetID(r.Page.TargetID)
	for range 3 {
		if _, err := h.node.CDP(h.ctx, h.id, messages.CDPRequest{Method: "Page.captureScreenshot", TargetID: second}); err != nil {
			t.Error(err)
		}
	}
}

func TestW32_RequestsAreListedWithTheirStatus(t *testing.T) {
	t.Parallel()
	h := setup(t).task("w32").hands()
	files, err := artifact.New(t.TempDir(), artifact.DefaultBounds())
	if err != nil {
		t.Fatal(err)
	}
	h.table.WithArtifacts(files)
	h.site.Handle("/cut", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	h.site.Set("/requests", `<title>requests</title><body><script>
		new PerformanceObserver(list => { if (list.getEntries().some(e => e.name.includes('/cut'))) document.body.append('asked') }).observe({type: 'resource', buffered: true});
		fetch('/none?token=hunter2hunter2').finally(() => fetch('/cut'))</script>`)
	h.use("browser_navigate", `{"url":"`+h.site.URL("http://a.test/requests")+`"}`)
	h.use("browser_wait_for", `{"text":"asked"}`)
	r := h.use("browser_network_requests", `{"failed":true}`)
	if !strings.Contains(r.Text, "404 fetch http://") || !strings.Contains(r.Text, "no answer fetch http://") || strings.Contains(r.Text, "hunter2") {
		t.Error(r.Text)
	}
	if len(r.NextActions) != 3 {
		t.Fatalf("%+v", r.NextActions)
	}
	for _, a := range r.NextActions {
		input, err := json.Marshal(a.Input)
		if err != nil {
			t.Fatal(err)
		}
		r = h.use(a.Tool, string(input))
	}
	if len(r.Artifacts) != 1 || r.Artifacts[0].Kind != messages.ArtifactHAR {
		t.Fatalf("%+v", r)
	}
	text := h.use("browser_artifacts", `{"action":"read","artifact_id":"`+string(r.Artifacts[0].ArtifactID)+`"}`).Text
	if !strings.Contains(text, `"status":404`) || !strings.Contains(text, `"version":"1.2"`) || strings.Contains(text, "hunter2") {
		t.Error(text)
	}
	if r := h.use("browser_network_requests", `{}`); !strings.Contains(r.Text, "200 navigation http://") {
		t.Error(r.Text)
	}
}

func TestX28_SnapshotOfAPageThatSpins(t *testing.T) {
	t.Parallel()
	h := setup(t).task("x28-spin").hands()
	h.show("/spins", `<title>spins</title><button>Calm</button>`)
	h.look(`{}`)
	h.later("", "for (;;);")
	r := h.use("browser_snapshot", `{}`)
	for i := 0; i < 5 && !strings.Contains(r.Text, "hung"); i++ {
		r = h.use("browser_snapshot", `{}`) // the first may have come before the script
	}
	if !strings.Contains(r.Text, "PAGE STATE hung") || !strings.Contains(r.Text, `button "Calm"`) || len(r.NextActions) == 0 {
		t.Fatalf("%+v", r)
	}
	if r := h.try("browser_click", `{"selector":"button"}`); r.Code != messages.CodePageWedged || len(r.NextActions) == 0 {
		t.Errorf("a click: %+v", r)
	}
	last := r.NextActions[len(r.NextActions)-1]
	input, err := json.Marshal(last.Input)
	if err != nil {
		t.Fatal(err)
	}
	h.use(last.Tool, string(input))
}

func TestW19_ScriptRunsInAnyFrameAndOnElements(t *testing.T) {
	t.Parallel()
	h := setup(t).task("w19").hands()
	h.site.Set("/other", `<title>other</title><script>var mine = 'oopif'</script>`)
	h.show("/scripts", `<title>scripts</title><body><button>Go</button><iframe title=near srcdoc="<title>near</title><script>var mine = 'near'</script>"></iframe><iframe title=far src="`+h.site.URL("http://b.test/other")+`"></iframe><script>var mine = 'page'</script>`)
	far := h.frame("/other")
	text := h.look(`{}`)
	for input, want := range map[string]string{
		`{"expression":"mine"}`:     `"page"`,
		`{"function":"() => mine"}`: `"page"`,
		`{"function":"e => e.textContent","ref":"` + h.ref(text, `"Go"`) + `"}`: `"Go"`,
		`{"function":"() => mine","frame_id":"` + h.ref(text, `"near"`) + `"}`:  `"near"`,
		`{"expression":"1; mine","frame_id":"` + h.ref(text, `"near"`) + `"}`:   `"near"`,
		`{"expression":"mine","frame_id":"` + h.ref(text, `"far"`) + `"}`:       `"oopif"`,
		`{"expression":"mine","frame_id":"` + string(far.FrameID) + `"}`:        `"oopif"`,
		`{"expression":"Promise.resolve([1, {a: 2}])"}`:                         `[1,{"a":2}]`,
		`{"expression":"undefined"}`:                                            `undefined`,
		`{"expression":"0/0"}`:                                                  `NaN`,
	} {
		if r := h.use("browser_evaluate", input); r.Text != want {
			t.Errorf("%s: %s, want %s", input, r.Text, want)
		}
	}
	if r := h.use("browser_evaluate", `{"expression":"() => 1"}`); r.Category != "eval-hint" {
		t.Errorf("%+v", r)
	}
	if r := h.try("browser_evaluate", `{"expression":"1","frame_id":"nowhere"}`); r.Code != messages.CodeFrameNotFound {
		t.Errorf("%+v", r)
	}
}
