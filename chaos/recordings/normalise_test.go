package recordings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// normaliser replaces what differs from run to run. Names are given in the
// order of first appearance, so one normaliser belongs to one recording.
type normaliser struct {
	names map[string]string
	count map[string]int
	plain func(string) string // makes addresses those that the scenario wrote
}

func newNormaliser(plain func(string) string) *normaliser {
	return &normaliser{names: map[string]string{}, count: map[string]int{}, plain: plain}
}

var (
	tokenPattern    = regexp.MustCompile(`^[0-9A-F]{32}$`)
	guidPattern     = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	isolatePattern  = regexp.MustCompile(`^-?\d+\.`)
	realmPattern    = regexp.MustCompile(`^([0-9a-f]{16})[0-9-]+\.(\d+ \w+) \d+ `)
	positionPattern = regexp.MustCompile(`at position \d+`)
)

// masked are members whose value says nothing that the fake has to match.
var masked = map[string]string{
	"timestamp":                "a clock",
	"uniqueId":                 "random",
	"executionContextUniqueId": "random",
	"objectId":                 "random",
	"scriptId":                 "counts V8's scripts",
	"exceptionId":              "counts V8's exceptions",
	"stack":                    "source positions of a real script",
	"stackTrace":               "source positions of a real script",
	"preview":                  "V8's rendering of an object",
	"lineNumber":               "source position",
	"columnNumber":             "source position",
	"functionLocation":         "source position",
	"location":                 "source position",
	"endLine":                  "source position",
	"endColumn":                "source position",
	"scopeChain":               "V8's objects",
	"hash":                     "of the script",
	"length":                   "of the script",
	"debuggerId":               "random",
	"backendNodeId":            "counts Blink's nodes",
	"protocolVersion":          "of the installed Chromium",
	"product":                  "of the installed Chromium",
	"revision":                 "of the installed Chromium",
	"userAgent":                "of the installed Chromium",
	"jsVersion":                "of the installed Chromium",
}

// prefixes name an id by the member that it is first seen in.
var prefixes = map[string]string{
	"sessionId": "S", "loaderId": "L", "browserContextId": "C",
}

// message rewrites one CDP message and keeps the order of its members.
func (n *normaliser) message(t testing.TB, raw []byte) json.RawMessage {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out bytes.Buffer
	if err := n.value(d, &out, "", 0); err != nil {
		t.Fatalf("normalise %s: %v", raw, err)
	}
	return out.Bytes()
}

func (n *normaliser) value(d *json.Decoder, out *bytes.Buffer, member string, depth int) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		return n.nested(d, out, token, member, depth)
	case string:
		return write(out, n.text(member, token))
	case json.Number:
		if depth == 4 && member == "id" {
			token = "0" // of a history entry
		}
		return write(out, token)
	default:
		return write(out, token)
	}
}

func (n *normaliser) nested(d *json.Decoder, out *bytes.Buffer, opening json.Delim, member string, depth int) error {
	out.WriteString(opening.String())
	for first := true; d.More(); first = false {
		if opening == '[' && member == "callFrames" && !first {
			var ignored json.RawMessage // who has called the bridge, and how
			if err := d.Decode(&ignored); err != nil {
				return err
			}
			continue
		}
		if !first {
			out.WriteByte(',')
		}
		inner := member
		if opening == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			inner = key.(string)
			if err := write(out, inner); err != nil {
				return err
			}
			out.WriteByte(':')
			if _, skip := masked[inner]; skip {
				var ignored json.RawMessage
				if err := d.Decode(&ignored); err != nil {
					return err
				}
				out.WriteString(`"*"`)
				continue
			}
		}
		if err := n.value(d, out, inner, depth+1); err != nil {
			return err
		}
	}
	closing, err := d.Token()
	if err != nil {
		return err
	}
	out.WriteString(closing.(json.Delim).String())
	return nil
}

func (n *normaliser) text(member, s string) string {
	switch {
	case tokenPattern.MatchString(s), guidPattern.MatchString(s):
		if name, known := n.names[s]; known {
			return name
		}
		prefix := prefixes[member]
		if prefix == "" {
			prefix = "T" // targets and frames share their ids
		}
		n.count[prefix]++
		n.names[s] = fmt.Sprintf("%s%d", prefix, n.count[prefix])
		return n.names[s]
	case member == "callFrameId":
		return isolatePattern.ReplaceAllString(s, "*.")
	case member == "source" && strings.Contains(s, bridgeName):
		return "the bridge"
	case strings.HasPrefix(s, bridgeToken):
		return realmPattern.ReplaceAllString(n.plain(s), "$1*.$2 * ") // lengths with the port
	case member == "description":
		s, _, _ = strings.Cut(s, "\n")
		return s
	default:
		return positionPattern.ReplaceAllString(n.plain(s), "at position *")
	}
}

func write(out *bytes.Buffer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the encoder's newline
	return nil
}
