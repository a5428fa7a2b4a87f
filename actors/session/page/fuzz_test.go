package page_test

import (
	"testing"

	"holdfast/actors/session/page"
)

func FuzzHasDocument(f *testing.F) {
	for seed, want := range map[string]bool{
		`{"currentIndex":0,"entries":[{"id":1,"url":"","title":""}]}`:               false,
		`{"currentIndex":1,"entries":[{"url":""},{"url":"http://a.test/"}]}`:        true,
		`{"currentIndex":0,"entries":[{"url":""},{"url":"http://a.test/"}]}`:        false,
		`{"currentIndex":-1,"entries":[{"url":"http://a.test/"}]}`:                  false,
		`{"currentIndex":9223372036854775807,"entries":[{"url":"http://a.test/"}]}`: false,
		`{"currentIndex":0,"entries":null}`:                                         false,
		`{"currentIndex":"0","entries":[{"url":"http://a.test/"}]}`:                 false,
		`null`: false, ``: false, `[]`: false,
	} {
		if got := page.HasDocument([]byte(seed)); got != want {
			f.Errorf("%s: %v", seed, got)
		}
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, result []byte) { page.HasDocument(result) })
}
