package memory

import (
	"bytes"
	"strconv"
	"strings"

	"holdfast/internal/scan"
)

// Chrome numbers the objects and the intercepted requests of a session from 1, so after a
// drop the id of an old one names another. An id of a session that has lost a link carries
// the number of its link behind it.

// idKeys are the members that hold such ids, as they stand in JSON.
var idKeys = [2][]byte{[]byte(`"objectId"`), []byte(`"requestId"`)}

// Mark marks the ids in a result or an event of a session that has lost links. It returns
// the message itself where there is none.
func Mark(msg []byte, epoch int) []byte {
	if epoch == 0 {
		return msg
	}
	mark := "@" + strconv.Itoa(epoch)
	out, _ := rewrite(msg, func(id string) (string, bool) { return id + mark, true })
	return out
}

// Unmark takes the marks from the ids in a client's command. False is a command that names
// something of a link that is lost.
func Unmark(params []byte, epoch int) ([]byte, bool) {
	if epoch == 0 {
		return params, true
	}
	mark := "@" + strconv.Itoa(epoch)
	return rewrite(params, func(id string) (string, bool) { return strings.CutSuffix(id, mark) })
}

// rewrite replaces the ids in JSON, until with says that one of them cannot be.
func rewrite(msg []byte, with func(id string) (string, bool)) ([]byte, bool) {
	var out []byte
	done := 0
	for ids := (walk{msg: msg}); ids.hasNext(); {
		id := string(msg[ids.start:ids.end])
		if bare, _, _ := strings.Cut(id, "@"); !isSessionID(bare) {
			continue
		}
		id, ok := with(id)
		if !ok {
			return nil, false
		}
		out = append(append(out, msg[done:ids.start]...), id...)
		done = ids.end
	}
	if done == 0 {
		return msg, true
	}
	return append(out, msg[done:]...), true
}

// walk goes through the texts of the ids in JSON. A key's quotes cannot stand in a string of
// the JSON, where they are escaped.
type walk struct {
	msg        []byte
	at         int
	next       [2]int // where each of idKeys is found next, from at on; 0 is not known
	start, end int
}

func (w *walk) hasNext() bool {
	for {
		key := 0
		for i := range idKeys {
			if w.next[i] == 0 || w.next[i] < w.at {
				if w.next[i] = bytes.Index(w.msg[w.at:], idKeys[i]); w.next[i] < 0 {
					w.next[i] = len(w.msg) + 1
				} else {
					w.next[i] += w.at
				}
			}
			if w.next[i] < w.next[key] {
				key = i
			}
		}
		if w.next[key] > len(w.msg) {
			return false
		}
		w.at = scan.SkipSpace(w.msg, w.next[key]+len(idKeys[key]))
		if w.at >= len(w.msg) || w.msg[w.at] != ':' {
			continue
		}
		if w.at = scan.SkipSpace(w.msg, w.at+1); w.at >= len(w.msg) || w.msg[w.at] != '"' {
			continue
		}
		if end := scan.PlainEnd(w.msg, w.at+1); end >= 0 {
			w.start, w.end = w.at+1, end
			w.at = end
			return true
		}
		w.at++
	}
}

// isSessionID says whether an id is one that its session numbers: "-123.4.5" of an object,
// "interception-job-1.0" of a request. Those of the network are the browser's own.
func isSessionID(id string) bool {
	if strings.HasPrefix(id, "interception-job-") {
		return true
	}
	parts := strings.Split(strings.TrimPrefix(id, "-"), ".")
	if len(parts) != 3 {
		return false
	}
	for _, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return true
}
