package acceptance_test

import (
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/gateway/view"
	"holdfast/messages"
)

var (
	viewSeed     = flag.Uint64("view-seed", 1, "seed of the commands that clients of three tasks send at random")
	viewCommands = flag.Int("view-commands", 300, "how many they are")
)

// ids are what Chromium calls targets, sessions, contexts, frames and documents by.
var ids = regexp.MustCompile(`[0-9A-F]{32}`)

// named are ids with the word for what they are.
var named = regexp.MustCompile(`"(targetId|sessionId|browserContextId)":"([0-9A-F]{32})"`)

// onlooker is a client that remembers what it was told.
type onlooker struct {
	*chromiumtest.Raw
	task string // also the mark that stands in all that is its task's
	told strings.Builder
	seen int // events that told has
	late []*chromiumtest.Pending
	done int // commands that have succeeded
}

// do sends a command, and does not wait long for the reply. Of an error it remembers nothing: it may
// repeat what the client has sent.
func (o *onlooker) do(session, method string, params any) {
	o.late = append(o.late, o.Send(session, method, params))
	if raw, err := o.late[len(o.late)-1].Wait(time.Second); !errors.Is(err, chromiumtest.ErrNoReply) {
		o.late = o.late[:len(o.late)-1]
		o.told.Write(raw)
		if err == nil {
			o.done++
		}
	}
}

// text is all that the client was told.
func (o *onlooker) text() string {
	for _, e := range o.Events(nil)[o.seen:] {
		o.seen++
		o.told.WriteString(e.Session)
		o.told.Write(e.Params)
	}
	return o.told.String()
}

// The view on a real browser: clients of tasks of one browser send commands of the browser at random,
// with ids of all tasks. None is told an id or a word of another task, and a task whose client sends
// nothing is as it was.
func TestX2_X6_NoClientIsToldOfAnotherTask(t *testing.T) {
	t.Parallel()
	r := alone(t)
	to := r.cdpClients()
	var all []*onlooker
	for _, name := range []string{"markone", "markone", "marktwo", "markquiet"} {
		if len(all) == 0 || all[len(all)-1].task != name {
			k := r.task(messages.TaskID(name))
			r.site.Set("/"+name, "<title>"+name+"</title><iframe src='http://b.test/plain?"+name+"'></iframe>")
			k.goTo("http://a.test/" + name)
			k.eval("", "document.cookie = 'whose="+name+"'; localStorage.whose = '"+name+"'; 0")
		}
		o := &onlooker{Raw: chromiumtest.Dial(t, to(name)+"&dialogs=client"), task: name}
		o.do("", "Target.setDiscoverTargets", map[string]any{"discover": true, "filter": []struct{}{{}}})
		o.do("", "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true})
		o.do("", "Target.createBrowserContext", nil)
		all = append(all, o)
	}
	quiet := all[3]
	before := string(quiet.Must("", "Target.getTargets", nil))

	methods := slices.Sorted(maps.Keys(view.Methods()))
	methods = slices.DeleteFunc(methods, func(m string) bool { return m == "Browser.close" }) // the client would be gone
	often := slices.DeleteFunc(slices.Clone(methods), func(m string) bool { return !strings.HasPrefix(m, "Target.") && !strings.HasPrefix(m, "Storage.") })
	often = append(often, "Page.getFrameTree", "Network.getCookies", "Browser.getWindowForTarget")
	random := rand.New(rand.NewPCG(*viewSeed, 0))
	one := func(list []string) string { return list[random.IntN(len(list))] }
	for range *viewCommands {
		o := all[random.IntN(3)]
		theirs, own := map[string][]string{}, map[string][]string{}
		for _, other := range all {
			for _, m := range named.FindAllStringSubmatch(other.text(), -1) {
				theirs[m[1]] = append(theirs[m[1]], m[2])
				if other == o {
					own[m[1]] = append(own[m[1]], m[2])
				}
			}
		}
		some := func(kind string) string {
			if random.IntN(3) == 0 {
				return one(theirs[kind])
			}
			return one(own[kind])
		}
		params := map[string]any{
			"url": r.site.URL("http://a.test/plain?" + o.task), "autoAttach": true, "flatten": true, "discover": true, "filter": []struct{}{{}},
			"waitForDebuggerOnStart": false, "windowId": random.IntN(8), "origin": "http://a.test", "behavior": "deny", "permissions": []string{"geolocation"},
			"cookies": []map[string]string{{"name": "x", "value": o.task, "url": "http://a.test/"}}, "storageTypes": "all",
		}
		for _, kind := range []string{"targetId", "sessionId", "browserContextId"} {
			if id := some(kind); random.IntN(3) > 0 {
				params[kind] = id
			}
		}
		session := ""
		if random.IntN(3) == 0 {
			session = some("sessionId")
		}
		method := one(methods)
		if random.IntN(3) > 0 {
			method = one(often)
		}
		o.do(session, method, params)
	}

	told := map[string]map[string]bool{}
	for _, o := range all {
		for _, p := range o.late {
			raw, err := p.Wait(patience)
			if errors.Is(err, chromiumtest.ErrNoReply) || errors.Is(err, chromiumtest.ErrGone) {
				t.Errorf("a client of %s: %v", o.task, err)
			}
			o.told.Write(raw)
			if err == nil {
				o.done++
			}
		}
		if o != quiet && o.done < *viewCommands/40 {
			t.Errorf("of the commands of a client of %s %d have succeeded, which shows little", o.task, o.done)
		}
		if told[o.task] == nil {
			told[o.task] = map[string]bool{}
		}
		for _, id := range ids.FindAllString(o.text(), -1) {
			told[o.task][id] = true
		}
		for _, other := range all {
			if at := strings.Index(o.text(), other.task); other.task != o.task && at >= 0 {
				t.Errorf("a client of %s is told: %s", o.task, o.text()[max(0, at-300):min(len(o.text()), at+100)])
			}
		}
	}
	for task, own := range told {
		for other, theirs := range told {
			for id := range own {
				if task < other && theirs[id] {
					t.Errorf("clients of %s and of %s are told of %s", task, other, id)
				}
			}
		}
	}
	if after := string(quiet.Must("", "Target.getTargets", nil)); after != before {
		t.Errorf("the targets of a task that does nothing: %s, and before %s", after, before)
	}
	k := &task{r, "markquiet"}
	var cookies struct {
		Cookies []struct{ Name, Value string }
	}
	if err := json.Unmarshal(quiet.Must("", "Storage.getCookies", nil), &cookies); err != nil {
		t.Fatal(err)
	}
	if got := k.eval("", "document.cookie + ' ' + localStorage.whose"); got != `"whose=markquiet markquiet"` || len(cookies.Cookies) != 1 {
		t.Errorf("what its page has stored: %s, cookies %v", got, cookies)
	}
}
