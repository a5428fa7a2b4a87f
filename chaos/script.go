package chaos

import (
	"regexp"
	"strconv"
	"strings"

	"holdfast/messages"
)

// A script is written in a handful of JavaScript forms, enough to drive a page
// through Runtime.evaluate in the same words as a real one:
//
//	1+1  'text'  true  undefined  document.title  location.href
//	alert('m')  confirm('m')  prompt('m','default')
//	console.error('m')  throw new Error('m')  while(true);
//	document.body.appendChild(Object.assign(document.createElement('iframe'),{id:'f',src:'URL'}))
//	document.getElementById('f').src='URL'  document.getElementById('f').remove()
//	window.open('URL')  location.href='URL'
//	onbeforeunload=e=>e.preventDefault()
//	void(FORM)  setTimeout(()=>{FORM},0)
//
// Everything else goes to [Options.Evaluate].
type form struct {
	shape *regexp.Regexp
	run   func(b *Browser, f *frame, args []string) outcome
}

// outcome is what a form does when it is run: its value, what follows once the caller has
// the value, and the dialog it waits for.
type outcome struct {
	value     any // undefined{} for none
	throws    string
	then      func()
	dialog    *Dialog
	isHanging bool
}

type undefined struct{}

const literal = `'((?:[^'\\]|\\.)*)'`

func shape(pattern string) *regexp.Regexp {
	pattern = strings.ReplaceAll(regexp.QuoteMeta(pattern), "STR", literal)
	return regexp.MustCompile("^" + strings.ReplaceAll(pattern, "REST", "(.*)") + ";?$")
}

var forms []form

func init() {
	value := func(v func(f *frame, args []string) any) func(*Browser, *frame, []string) outcome {
		return func(_ *Browser, f *frame, args []string) outcome { return outcome{value: v(f, args)} }
	}
	dialog := func(kind DialogType) func(*Browser, *frame, []string) outcome {
		return func(b *Browser, f *frame, args []string) outcome {
			args = append(args, "", "")
			return outcome{dialog: b.openDialog(f, kind, args[0], args[1])}
		}
	}
	forms = []form{
		{shape("void(REST)"), runVoid},
		{shape("void REST"), runVoid},
		{shape("setTimeout(()=>{REST},0)"), runTimeout},
		{shape("setTimeout(()=>REST,0)"), runTimeout},
		{shape("undefined"), value(func(*frame, []string) any { return undefined{} })},
		{shape("true"), value(func(*frame, []string) any { return true })},
		{shape("false"), value(func(*frame, []string) any { return false })},
		{shape("null"), value(func(*frame, []string) any { return nil })},
		{shape("STR"), value(func(_ *frame, args []string) any { return args[0] })},
		{regexp.MustCompile(`^(-?\d{1,9})$`), value(func(_ *frame, args []string) any { return atoi(args[0]) })},
		{regexp.MustCompile(`^(\d{1,9})\+(\d{1,9})$`), value(func(_ *frame, args []string) any { return atoi(args[0]) + atoi(args[1]) })},
		{shape("document.title"), value(func(f *frame, _ []string) any { return f.title })},
		{shape("location.href"), value(func(f *frame, _ []string) any { return f.url })},
		{shape("alert(STR)"), dialog(Alert)},
		{shape("confirm(STR)"), dialog(Confirm)},
		{shape("prompt(STR)"), dialog(Prompt)},
		{shape("prompt(STR,STR)"), dialog(Prompt)},
		{shape("console.error(STR)"), func(b *Browser, f *frame, args []string) outcome {
			b.consoleError(f, args[0])
			return outcome{value: undefined{}}
		}},
		{shape("throw new Error(STR)"), func(_ *Browser, _ *frame, args []string) outcome {
			return outcome{throws: args[0]}
		}},
		{shape("while(true)"), func(_ *Browser, f *frame, _ []string) outcome {
			f.target.proc.isBusy = true
			return outcome{isHanging: true}
		}},
		{shape("document.body.appendChild(Object.assign(document.createElement('iframe'),{id:STR,src:STR}))"), func(b *Browser, f *frame, args []string) outcome {
			return outcome{value: undefined{}, then: b.appendFrame(f, messages.FrameID(b.ids.token()), args[0], args[1])}
		}},
		{shape("document.getElementById(STR).src=STR"), func(b *Browser, f *frame, args []string) outcome {
			child := f.named(args[0])
			if child == nil {
				return outcome{throws: "no element " + args[0]}
			}
			return outcome{value: args[1], then: b.setSource(child, args[1])}
		}},
		{shape("document.getElementById(STR).remove()"), func(b *Browser, f *frame, args []string) outcome {
			child := f.named(args[0])
			if child == nil {
				return outcome{throws: "no element " + args[0]}
			}
			b.removeFrame(child)
			return outcome{value: undefined{}}
		}},
		{shape("window.open(STR)"), func(b *Browser, f *frame, args []string) outcome {
			then := b.windowOpen(f, args[0])
			return outcome{value: undefined{}, then: func() { then() }}
		}},
		{shape("location.href=STR"), func(b *Browser, f *frame, args []string) outcome {
			return outcome{value: args[0], then: b.setSource(f, args[0])}
		}},
		{bridgeOff, func(_ *Browser, f *frame, args []string) outcome {
			f.turn(args[0])
			return outcome{value: undefined{}}
		}},
		{shape("onbeforeunload=e=>e.preventDefault()"), func(_ *Browser, f *frame, _ []string) outcome {
			f.hasBeforeUnload = true
			return outcome{value: undefined{}}
		}},
	}
}

func runVoid(b *Browser, f *frame, args []string) outcome {
	o := b.exec(f, args[0])
	o.value = undefined{}
	return o
}

// runTimeout lets the reply go first and then runs the form as a task of the
// page.
func runTimeout(b *Browser, f *frame, args []string) outcome {
	f.timers++
	return outcome{value: f.timers, then: func() {
		b.script(f, func() { b.task(f, args[0]) })
	}}
}

// task runs an expression whose value is not needed.
func (b *Browser) task(f *frame, expression string) {
	o := b.exec(f, expression)
	if o.throws != "" {
		b.exception(f, o.throws)
	}
	if o.then != nil {
		o.then()
	}
}

// exec runs an expression in f. An unknown one is a ReferenceError.
func (b *Browser) exec(f *frame, expression string) outcome {
	expression = strings.TrimSpace(expression)
	for _, form := range forms {
		m := form.shape.FindStringSubmatch(expression)
		if m == nil {
			continue
		}
		args := m[1:]
		if strings.Contains(form.shape.String(), literal) {
			for i, a := range args {
				args[i] = unquote(a)
			}
		}
		return form.run(b, f, args)
	}
	return outcome{throws: unknown}
}

// unknown marks an expression outside the dialect.
const unknown = "\x00unknown"

var escapes = strings.NewReplacer(`\n`, "\n", `\'`, "'", `\\`, `\`)

func unquote(s string) string { return escapes.Replace(s) }

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // the pattern lets nothing else through
	return n
}

// named returns the child frame whose element has that id.
func (f *frame) named(id string) *frame {
	for _, child := range f.children {
		if child.name == id {
			return child
		}
	}
	return nil
}
