package bridge

import "holdfast/actors/session/effect"

// The browser's session hears the documents that are there already only once their
// page's has said that it intercepts, and no longer does (measured).

// passFirst is for the documents that are there when the bridge is armed.
func (q *byRequest) passFirst() {
	q.isFresh, q.passing = true, 0
	q.pass(effect.TagNone)
}

// A document may have been loading then, with what it loads by made before the
// browser's session intercepted, while the first pair went to the document that it has
// replaced. Either its process knew this session when it committed, and so tells of it,
// or had committed before it answered.

func (q *byRequest) passAnswered() {
	if q.isOn {
		q.passAgain()
	}
}

func (q *byRequest) passNavigated() {
	if q.isOn && q.isFresh {
		q.isFresh = false
		q.passAgain()
	}
}

func (q *byRequest) passAgain() {
	if q.pass(TagPass) {
		q.passing++
	}
}

// pass leaves it to an agent that intercepts by the session: it would lose what it has
// set, and what it has stopped would go on. Its documents are heard by then.
func (q *byRequest) pass(done effect.TagKind) bool {
	if q.isIntercepted {
		return false
	}
	q.command(effect.TagNone, "Fetch.enable", effect.Params(fetchPatterns{[]requestPattern{{URL: "https://" + q.secret.Host() + "/none"}}}))
	q.command(done, "Fetch.disable", nil)
	return true
}

// passed is the end of a pair, however it ended.
func (q *byRequest) passed(armed uint32) {
	if armed == q.armed && q.passing > 0 {
		q.passing--
	}
}
