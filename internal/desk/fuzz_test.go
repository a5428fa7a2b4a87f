package desk

import (
	"testing"

	"google.golang.org/protobuf/types/known/wrapperspb"
)

// FuzzRequest: whatever is asked in JSON is refused, or is a request of the node's tasks.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"ask":"navigate","request_id":"7","task_id":"a","body":{"url":"http://x/"}}`, `{"ask":"list","labels":{"a":"b"}}`,
		`{"ask":"watch","task_id":"a","after":18446744073709551615}`, `{"ask":"snapshot","task_id":"a","full":true,"target_id":"T"}`,
		`{"ask":"stop","task_id":"../../drain"}`, `{"ask":"unwatch"}`, `{}`, ``, "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := parse(wrapperspb.Bytes(b))
		if err != nil || q.Ask == askUnwatch {
			return
		}
		r, err := q.http()
		if err != nil {
			return
		}
		if want := "/v1/tasks"; q.Ask == askList && r.URL.Path != want || q.Ask != askList && r.URL.Path != want+"/"+q.TaskID+routes[q.Ask].path {
			t.Errorf("%q asks for %s", b, r.URL.Path)
		}
	})
}
