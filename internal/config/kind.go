package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/nodeurl"
	"holdfast/messages"
)

// Address is where to listen, HOST:PORT or unix:PATH; "" is nowhere.
type Address string

// shape is how a value is written in the file.
type shape uint8

const (
	text shape = 1 << iota // a string
	whole
	fraction
	truth
	list
)

// kind is a type that settings have.
type kind struct {
	name        string // in the documentation
	placeholder string // in --help
	must        string // what a value has to be, for errors
	shapes      shape  // what the file may hold
	parse       func(string) (any, error)
	format      func(any) string
}

var errKind = errors.New("is not of the kind")

// kinds are all of them; a list is made of texts and is known by its shape.
var kinds = map[reflect.Type]*kind{
	reflect.TypeFor[string](): {
		name: "text", placeholder: "TEXT", must: "be a text", shapes: text,
		parse:  func(s string) (any, error) { return s, nil },
		format: func(v any) string { return v.(string) },
	},
	reflect.TypeFor[Address](): {
		name: "address", placeholder: "ADDR", must: "be HOST:PORT, or unix: and an absolute path of at most 103 bytes", shapes: text,
		parse:  parseAddress,
		format: func(v any) string { return string(v.(Address)) },
	},
	reflect.TypeFor[bool](): {
		name: "true or false", must: "be true or false", shapes: truth,
		parse:  func(s string) (any, error) { return strconv.ParseBool(s) },
		format: func(v any) string { return strconv.FormatBool(v.(bool)) },
	},
	reflect.TypeFor[int](): {
		name: "number", placeholder: "N", must: "be a whole number", shapes: whole,
		parse:  func(s string) (any, error) { return strconv.Atoi(s) },
		format: func(v any) string { return strconv.Itoa(v.(int)) },
	},
	reflect.TypeFor[float64](): {
		name: "fraction", placeholder: "F", must: "be a number", shapes: whole | fraction,
		parse:  parseFraction,
		format: func(v any) string { return strconv.FormatFloat(v.(float64), 'f', -1, 64) },
	},
	reflect.TypeFor[time.Duration](): {
		name: "duration", placeholder: "DURATION", must: "be a duration with its unit, such as 90s, 15m or 24h", shapes: text | whole,
		parse:  func(s string) (any, error) { return time.ParseDuration(s) },
		format: func(v any) string { return formatDuration(v.(time.Duration)) },
	},
	reflect.TypeFor[slog.Level](): {
		name: "level", placeholder: "LEVEL", must: "be debug, info, warn or error", shapes: text,
		parse:  parseLevel,
		format: func(v any) string { return strings.ToLower(v.(slog.Level).String()) },
	},
	reflect.TypeFor[messages.CDPURL](): {
		name: "CDP URL", placeholder: "URL", must: "be a ws, wss, http or https URL", shapes: text,
		parse:  func(s string) (any, error) { return messages.ParseCDPURL(s) },
		format: func(v any) string { return v.(messages.CDPURL).String() }, // redacted
	},
	reflect.TypeFor[messages.DialogRules](): {
		name: "rules as JSON", placeholder: "JSON", must: "be a JSON array of at most 32 rules for dialogs, each with an action", shapes: text,
		parse: parseRules, format: formatRules,
	},
	reflect.TypeFor[[]string](): {
		name: "list of texts", placeholder: "TEXT", must: "be a list of texts", shapes: list,
	},
}

func parseAddress(s string) (any, error) {
	if s == "" {
		return Address(""), nil
	}
	if path, ok := nodeurl.SocketPath(s); ok {
		if nodeurl.WrongPath(path) != "" {
			return nil, errKind
		}
		return Address(s), nil
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return nil, err
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return nil, errKind
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, errKind
	}
	return Address(s), nil
}

// parseRules takes what a task's spec would take.
func parseRules(s string) (any, error) {
	var rules messages.DialogRules
	if s == "" {
		return rules, nil
	}
	if err := messages.DecodeStrict(strings.NewReader(s), &rules); err != nil {
		return nil, err
	}
	return rules, rules.Validate(messages.NodeRules)
}

func formatRules(v any) string {
	rules := v.(messages.DialogRules)
	if len(rules) == 0 {
		return ""
	}
	b, err := json.Marshal(rules)
	if err != nil {
		panic("config: " + err.Error()) // of texts alone
	}
	return string(b)
}

// parseFraction takes what is written with digits: no NaN, no infinity.
func parseFraction(s string) (any, error) {
	if strings.Trim(s, "-0123456789.") != "" {
		return nil, errKind
	}
	return strconv.ParseFloat(s, 64)
}

// parseLevel takes the four names alone; slog would also take INFO+3.
func parseLevel(s string) (any, error) {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(s, l.String()) {
			return l, nil
		}
	}
	return nil, errKind
}

// formatDuration leaves out the units that are zero at the end.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// outside says which bound v is beyond, "" for none.
func (k *Key) outside(v any) string {
	if k.min != nil && isLess(v, k.min) {
		return fmt.Sprintf("must be %s or more", k.kind.format(k.min))
	}
	if k.max != nil && isLess(k.max, v) {
		return fmt.Sprintf("must be %s or less", k.kind.format(k.max))
	}
	return ""
}

func isLess(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.CanFloat() {
		return x.Float() < y.Float()
	}
	return x.Int() < y.Int()
}
