package wanted

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A session numbers its scripts from 1, so after a reconnect the numbers that
// the browser gives name other scripts than before. An agent gets numbers of
// ours: the browser's own as long as they are free, and none of them twice.

const (
	addMethod    = "Page.addScriptToEvaluateOnNewDocument"
	removeMethod = "Page.removeScriptToEvaluateOnNewDocument"
)

// named notes an identifier of the browser's and returns its number: 0 for
// another browser's way of naming.
func (t *target) named(chrome string) uint64 {
	n, err := strconv.ParseUint(chrome, 10, 32)
	if err != nil {
		return 0
	}
	t.chrome = max(t.chrome, n)
	return n
}

type scriptIdentifier struct {
	Identifier string `json:"identifier"`
}

func identifier(raw []byte) string {
	var s scriptIdentifier
	_ = json.Unmarshal(raw, &s) // what cannot be read names no script
	return s.Identifier
}

// scriptAdded gives a script its identifier. One without room is known by the
// browser's number and the session it is good for.
func (s *State) scriptAdded(t *target, params, result []byte) (forAgent []byte, remembered bool) {
	chrome := identifier(result)
	given := max(t.script+1, t.named(chrome))
	i := &item{
		key: "script", act: addScript, method: addMethod, params: later(params),
		script: strconv.FormatUint(given, 10), isSet: true, chrome: chrome, site: t.site(),
	}
	if i.params == nil || !s.keep(t, i) {
		return mustJSON(scriptIdentifier{chrome + passing + string(t.Session)}), false
	}
	t.script = given
	if i.script == chrome {
		return result, true
	}
	return mustJSON(scriptIdentifier{i.script}), true
}

// passing joins the browser's identifier and the session where it is valid.
const passing = "@"

// later is params without runImmediately: on a new session the documents are
// those that had the script already.
func later(params []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(params, &fields) != nil {
		return nil
	}
	delete(fields, "runImmediately")
	return mustJSON(fields)
}

// prepareRemoval turns an agent's identifier into the browser's. One that names
// nothing is left to the browser to refuse, in words that name nothing there
// either. t is nil where nothing is kept.
func (t *target) prepareRemoval(p Place, params []byte) (send, answer []byte, err error) {
	var fields map[string]json.RawMessage
	given := identifier(params)
	if json.Unmarshal(params, &fields) != nil || given == "" {
		return params, nil, nil // the browser says what is wrong with it
	}
	chrome := "none: " + given
	if number, session, found := strings.Cut(given, passing); found && session == string(p.Session) {
		chrome = number
	}
	if t != nil {
		for _, i := range t.kept {
			switch {
			case i.script != given:
			case i.isPending:
				return nil, nil, notYet()
			case !i.isSet:
				// It did not come back, and now it will not.
				t.drop(func(x *item) bool { return x == i })
				return nil, []byte(`{}`), nil
			default:
				chrome = i.chrome
			}
		}
	}
	fields["identifier"] = mustJSON(chrome)
	return mustJSON(fields), nil, nil
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("wanted: " + err.Error()) // only strings and JSON that was read are ever passed
	}
	return b
}

// DropScripts forgets the scripts of a session: the browser does, where its Page domain is
// disabled.
func (s *State) DropScripts(p Place) {
	if t := s.target(p.Target); t != nil && t.isSame(p) {
		t.drop(func(i *item) bool { return i.act == addScript })
	}
}

// Scripts are the parameters of a session's scripts for new documents, in order.
func (s *State) Scripts(p Place) (list [][]byte) {
	t := s.target(p.Target)
	if t == nil || !t.isSame(p) {
		return nil
	}
	for _, i := range t.kept {
		if i.act == addScript {
			list = append(list, i.params)
		}
	}
	return list
}
