package acceptance_test

import (
	"strings"
	"testing"

	"holdfast/messages"
)

// TestX28_Fixtures have one kind of page each that agents find hard, all on one browser.
func TestX28_Fixtures(t *testing.T) {
	t.Parallel()
	r := setup(t)
	for name, row := range map[string]func(*hands){
		"canvas": canvasFixture, "combobox": comboboxFixture, "calendar": calendarFixture, "rich": richFixture, "virtual": virtualFixture, "shadow": shadowFixture, "overlay": overlayFixture,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row(r.row(t).task(messages.TaskID("fixture-" + name)).hands())
		})
	}
}

func (h *hands) click(text, words string) *messages.ToolResult {
	h.Helper()
	return h.use("browser_click", `{"ref":"`+h.ref(text, words)+`"}`)
}

func canvasFixture(h *hands) {
	h.show("/canvas", `<title>canvas</title><canvas id=c aria-label=Board width=100 height=60 onclick="got=[event.offsetX,event.offsetY,event.isTrusted]"></canvas>`)
	h.click(h.look(`{}`), `canvas "Board"`)
	h.wantEval("got.join()", `"50,30,true"`)
}

func comboboxFixture(h *hands) {
	h.show("/combo", `<title>combo</title><input id=i role=combobox aria-label=City aria-expanded=false aria-controls=l oninput="l.hidden=false;i.ariaExpanded=true;for(const o of l.children)o.hidden=!o.textContent.toLowerCase().startsWith(i.value.toLowerCase())">
		<ul id=l role=listbox hidden><li role=option onclick="i.value='Wien';l.hidden=true">Wien<li role=option onclick="i.value='Graz';l.hidden=true">Graz</ul>`)
	h.use("browser_type", `{"ref":"`+h.ref(h.look(`{}`), `combobox "City"`)+`","text":"gr"}`)
	text := h.look(`{}`)
	if strings.Contains(text, "Wien") {
		h.Errorf("an option that is hidden:\n%s", text)
	}
	h.click(text, `option "Graz"`)
	h.wantEval("i.value", `"Graz"`)
}

func calendarFixture(h *hands) {
	h.show("/calendar", `<title>calendar</title><input id=d type=date aria-label=Leave><button aria-haspopup=dialog onclick="p.hidden=false">Return</button><div id=p hidden role=dialog aria-label="Choose a day"><table role=grid><tr>
		<td role=gridcell tabindex=0 onclick="out.textContent='day 14';p.hidden=true">14<td role=gridcell tabindex=0 onclick="out.textContent='day 15';p.hidden=true">15</table></div><output id=out></output>`)
	text := h.look(`{}`)
	h.use("browser_type", `{"ref":"`+h.ref(text, `"Leave"`)+`","text":"2031-02-03"}`)
	h.click(text, `button "Return"`)
	h.click(h.look(`{}`), `gridcell "15"`)
	h.wantEval("d.value + out.textContent", `"2031-02-03day 15"`)
}

func richFixture(h *hands) {
	h.show("/rich-text", `<title>rich</title><div id=e contenteditable role=textbox aria-label=Body>old <b>bold</b></div><script>e.addEventListener('beforeinput', x => window.kinds = (window.kinds || '') + x.isTrusted)</script>`)
	h.use("browser_type", `{"ref":"`+h.ref(h.look(`{}`), `"Body"`)+`","text":"new text"}`)
	h.wantEval("e.innerText.trim()", `"new text"`)
}

func virtualFixture(h *hands) {
	h.show("/virtual", `<title>virtual</title><div id=v role=list aria-label=Rows tabindex=0 style="height:200px;overflow:auto"><div id=s style="height:20000px;position:relative"></div></div><script>
		const draw = () => { const at = Math.floor(v.scrollTop / 20); s.replaceChildren(...Array.from({length: 12}, (_, i) => { const d = document.createElement('button'); d.textContent = 'row ' + (at + i); d.style = 'position:absolute;height:20px;top:' + (at + i) * 20 + 'px'; d.onclick = () => window.got = d.textContent; return d })) };
		v.onscroll = draw; draw()</script>`)
	if text := h.look(`{}`); strings.Contains(text, `"row 100"`) {
		h.Errorf("a row that is not there:\n%s", text)
	}
	h.use("browser_scroll", `{"selector":"#v","direction":"down","pixels":2000}`)
	h.await("it is where it goes", func(*messages.Snapshot) bool { return h.eval("", "v.scrollTop") == "2000" })
	h.click(h.look(`{}`), `"row 101"`)
	h.wantEval("window.got", `"row 101"`)
}

func shadowFixture(h *hands) {
	h.show("/shadow", `<title>shadow</title><div id=a></div><script>
		const outer = a.attachShadow({mode:'closed'}); outer.innerHTML = '<div></div>';
		const inner = outer.firstChild.attachShadow({mode:'closed'}); inner.innerHTML = '<label>Deep <input></label><button>Send</button>';
		inner.querySelector('button').onclick = () => window.got = inner.querySelector('input').value</script>`)
	text := h.look(`{}`)
	h.use("browser_type", `{"ref":"`+h.ref(text, `textbox "Deep"`)+`","text":"found"}`)
	h.click(text, `button "Send"`)
	h.wantEval("window.got", `"found"`)
}

func overlayFixture(h *hands) {
	h.show("/overlay", `<title>overlay</title><button onclick="window.got=1">Buy</button><div id=o role=dialog aria-label=Cookies style="position:fixed;inset:0;background:#fff8"><button onclick="o.remove()">Accept all</button></div>`)
	text := h.look(`{}`)
	r := h.try("browser_click", `{"ref":"`+h.ref(text, `button "Buy"`)+`"}`)
	if r.Code != messages.CodeNotActionable || !strings.Contains(r.Text, `role="dialog"`) {
		h.Errorf("%+v", r)
	}
	h.wantEval("window.got === undefined", "true")
	h.click(text, `button "Accept all"`)
	h.click(text, `button "Buy"`)
	h.wantEval("window.got", "1")
}
