package messages_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"holdfast/messages"
)

func TestErrorOnTheWire(t *testing.T) {
	t.Parallel()
	plain := messages.Errorf(messages.CodeDeadline, "late")
	for want, e := range map[string]*messages.Error{
		`{"code":"deadline","message":"late"}`:                                                   plain,
		`{"code":"deadline","message":"late","details":{"sent":false}}`:                          plain.WithSent(messages.SentNo),
		`{"code":"deadline","message":"late","details":{"sent":true}}`:                           plain.WithSent(messages.SentYes),
		`{"code":"deadline","message":"late","details":{"hint":"wait","k":"v"}}`:                 plain.WithHint("wait").With("k", "v"),
		`{"code":"deadline","message":"late","details":{"hint":"wait","k":"v","sent":true}}`:     plain.With("k", "v").WithSent(messages.SentYes).WithHint("wait"),
		`{"code":"deadline","message":"late","details":{"hint":7,"sent":"maybe"}}`:               plain.With("hint", 7.0).With("sent", "maybe"),
		`{"code":"upstream_unavailable","message":"wrapped <&>","details":{"checks":["a","b"]}}`: messages.Errorf(messages.CodeUpstreamUnavailable, "wrapped <&>").With("checks", []any{"a", "b"}),
	} {
		b, err := json.Marshal(e)
		var text any
		if err != nil || json.Unmarshal(b, &text) != nil {
			t.Fatal(err)
		}
		var wanted any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil || !reflect.DeepEqual(text, wanted) {
			t.Errorf("got %s, want %s", b, want)
		}
		var back messages.Error
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(&back, e) {
			t.Errorf("%s is read as %+v", b, back)
		}
	}
	if plain.Details != nil || plain.Sent != messages.SentUnknown || plain.Hint != "" {
		t.Errorf("what is said of a copy shows in the original: %+v", plain)
	}
	var e messages.Error
	if err := json.Unmarshal([]byte(`{"code":7}`), &e); err == nil {
		t.Error("a code that is a number")
	}
}

func TestSentOf(t *testing.T) {
	t.Parallel()
	no := messages.Errorf(messages.CodeDeadline, "late").WithSent(messages.SentNo)
	for want, err := range map[messages.Sent]error{
		messages.SentUnknown: errors.New("another"), messages.SentNo: fmt.Errorf("wrapped: %w", no), messages.SentYes: no.WithSent(messages.SentIf(true)),
	} {
		if got := messages.SentOf(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
