package cli

import (
	"fmt"
	"strconv"
	"time"
)

// seconds is a time span on the command line: 90, 1.5 or, as Go writes it, 1m30s.
type seconds float64

// UnmarshalText implements encoding.TextUnmarshaler for kong.
func (s *seconds) UnmarshalText(b []byte) error {
	text := string(b)
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		*s = seconds(v)
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is neither seconds nor a duration such as 1m30s", text)
	}
	*s = seconds(d.Seconds())
	return nil
}
