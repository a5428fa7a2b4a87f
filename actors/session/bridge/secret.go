package bridge

import (
	_ "embed"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"

	"holdfast/actors/session/clip"
	"holdfast/actors/session/effect"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// Secret tells a task's bridge from anything a page can make. It never prints:
// behind a pointer it does not either as a field of what is printed. The zero value is
// that of a task that has none.
type Secret struct{ digits *string }

// NewSecret makes one of [BridgeSecretBytes] random bytes in hexadecimal digits.
func NewSecret(digits string) Secret { return Secret{&digits} }

func (s Secret) reveal() string {
	if s.digits == nil {
		return ""
	}
	return *s.digits
}

// String keeps it from being printed, as the methods after it do.
func (s Secret) String() string { return "***" }

// GoString is for %#v.
func (s Secret) GoString() string { return "BridgeSecret(***)" }

// LogValue implements [slog.LogValuer].
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is for encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// SecretBytes is how many random bytes make a [BridgeSecret].
const SecretBytes = 24

// nameSize is how many hexadecimal digits a script's name has.
const nameSize = 16

// name is that of the script, by which it is not blackboxed.
func (s Secret) name() string { return s.reveal()[:nameSize] }

// token begins what a call says of itself.
func (s Secret) token() string { return s.reveal()[16:32] }

// mark is what all that a page could overhear of a mechanism's script is derived from.
func (s Secret) mark(by mail.Mechanism) string {
	if by == mail.ByRequest {
		return s.derive("mark")
	}
	return s.reveal()[32:]
}

// seen is the name by which our functions say that they are in place, and nothing else.
func (s Secret) seen(by mail.Mechanism) string {
	return s.derive("seen " + s.mark(by))[:wordSize]
}

const (
	wordSize = 16
	// wordsKnown is how many epochs from its own a document has the words of.
	wordsKnown = 32
)

// word turns a document's functions on or off, as of an epoch. A page that puts a Proxy
// before them may overhear it: it tells nothing of any other word.
func (s Secret) word(by mail.Mechanism, epoch uint64, on bool) string {
	return s.derive("word " + s.mark(by) + " " + strconv.FormatUint(epoch, 10) + " " + strconv.FormatBool(on))[:wordSize]
}

// words are those that a document of an epoch knows: off and on of each.
func (s Secret) words(by mail.Mechanism, epoch uint64) string {
	var list strings.Builder
	for i := range uint64(wordsKnown) {
		list.WriteString(s.word(by, epoch+i, false))
		list.WriteString(s.word(by, epoch+i, true))
	}
	return list.String()
}

//go:embed bridge.js
var bridgeSource string

// script adds the functions of the bridge to every document, those that are there
// included. waits is the part that makes a page wait, values what it names.
func (s Secret) script(epoch uint64, by mail.Mechanism, waits string, values ...string) []byte {
	source := strings.Replace(bridgeSource, "WAIT", waits, 1)
	values = append(values, "'SEEN'", "'"+s.seen(by)+"'", "'TOKEN'", "'"+s.token()+"'", "'SHARES'", "'"+s.derive("shares "+s.mark(by))+"'",
		"'WORDS'", "'"+s.words(by, epoch)+"'", "'WORD'", "'"+s.word(by, epoch, true)+"'", "EPOCH", strconv.FormatUint(epoch, 10), "sourceURL=NAME", "sourceURL="+s.name())
	return scriptNow(strings.NewReplacer(values...).Replace(source))
}

// scriptNow adds source to every document, those that are there included.
func scriptNow(source string) []byte {
	return effect.Params(struct {
		Source         string `json:"source"`
		RunImmediately bool   `json:"runImmediately"`
	}{source, true})
}

// turn has a document and those below it that it may reach ask us, or Chrome again.
func turn(word string, context int64) []byte {
	return effect.Params(struct {
		Expression string `json:"expression"`
		ContextID  int64  `json:"contextId,omitempty"`
		Silent     bool   `json:"silent"`
	}{turning(word), context, true})
}

func turning(word string) string {
	return `(function turn(w) {
	try {
		for (const f of [w.alert, w.confirm, w.prompt]) { const heard = f['` + word + `']; if (heard) heard() }
		for (let i = 0; i < w.length; i++) turn(w[i]);
	} catch {}
})(window)`
}

func decodeIdentifier(result []byte) string {
	var r struct {
		Identifier string `json:"identifier"`
	}
	_ = json.Unmarshal(result, &r) // without one it is not taken back, and ends with the session
	return r.Identifier
}

// NotWaiting turns Chrome's words for a call that does not wait any more into
// those for a dialog that is gone. A session that has ended tells nothing of the call,
// which other sessions may hold.
func NotWaiting(err error) error {
	switch quirks.Classify(err) {
	case quirks.None, quirks.SessionGone:
		return err
	}
	return quirks.NoDialogError()
}

// AnswerOf is what a call returns, in JavaScript.
func AnswerOf(o mail.HandleDialog) []byte {
	switch {
	case o.MustAccept && o.Text != nil:
		return effect.Params(*o.Text)
	case o.MustAccept:
		return []byte("true")
	}
	return []byte("false")
}

// parseCall reads what a call says of itself:
//
//	token id kind length length url message default
//
// with the lengths of the URL and of the message in UTF-16 units, since they may
// hold anything; the last three are not separated.
func (s Secret) parseCall(text string) (CallPaused, bool) {
	rest, ok := strings.CutPrefix(text, s.token())
	if !ok {
		return CallPaused{}, false
	}
	fields := strings.SplitN(rest, " ", 5)
	if len(fields) != 5 || fields[0] == "" || len(fields[0]) > 64 {
		return CallPaused{}, false
	}
	// What is kept is no part of the whole, which may be long: it would stay for it.
	p := CallPaused{Pause: mail.Pause{Key: strings.Clone(fields[0])}, Kind: fields[1]}
	switch p.Kind {
	case "alert", "confirm", "prompt":
	default:
		return CallPaused{}, false
	}
	address, err := strconv.Atoi(fields[2])
	if err != nil || address < 0 {
		return CallPaused{}, false
	}
	message, err := strconv.Atoi(fields[3])
	if err != nil || message < 0 {
		return CallPaused{}, false
	}
	if p.Address, rest, ok = cutUnits(fields[4], address); !ok {
		return CallPaused{}, false
	}
	p.Message, p.Default, ok = cutUnits(rest, message)
	p.Kind, p.Address = strings.Clone(p.Kind), strings.Clone(clip.Text(p.Address, clip.MaxURL))
	p.Message, p.Default = strings.Clone(clip.Text(p.Message, clip.MaxDialogText)), strings.Clone(clip.Text(p.Default, clip.MaxDialogText))
	return p, ok
}

// cutUnits cuts s after n UTF-16 units. A lone surrogate has become one
// character of one unit.
func cutUnits(s string, n int) (before, after string, ok bool) {
	for i, r := range s {
		if n <= 0 {
			return s[:i], s[i:], n == 0
		}
		if n--; r > 0xFFFF {
			n--
		}
	}
	return s, "", n == 0
}
