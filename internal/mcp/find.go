package mcp

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"holdfast/messages"
)

// The bounds of what browser_find answers.
const (
	maxMatches = 50
	maxFound   = 15_000 // bytes
	nearby     = 1      // lines before and behind a match
)

// found answers Playwright's browser_find: lines of the snapshot, each under its path.
func found(_ context.Context, d desk, in map[string]any) (*messages.ToolResult, error) {
	pattern, err := patternOf(in)
	if err != nil {
		return nil, err
	}
	r, err := d.ask("browser_snapshot", map[string]any{"max_chars": 1_000_000})
	if err != nil || r.Error != nil {
		return r, err
	}
	text, matches := excerpt(r.Text, pattern)
	out := *r
	out.Text, out.Data = text, map[string]any{"matches": matches}
	out.Artifacts = []messages.Artifact{}
	return &out, nil
}

// patternOf is what the call looks for.
func patternOf(in map[string]any) (*regexp.Regexp, error) {
	plain, _ := in["text"].(string)
	given, _ := in["regex"].(string)
	if (plain == "") == (given == "") {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "give either text or regex")
	}
	if plain != "" {
		return regexp.MustCompile("(?i)" + regexp.QuoteMeta(plain)), nil
	}
	return compiled("regex", given)
}

// slashed is a pattern with its flags, as JavaScript writes it.
var slashed = regexp.MustCompile(`^/(.*)/([a-z]*)$`)

// compiled is a pattern of JavaScript's, as far as RE2 has it too.
func compiled(field, given string) (*regexp.Regexp, error) {
	if m := slashed.FindStringSubmatch(given); m != nil {
		given = m[1]
		if strings.Contains(m[2], "i") {
			given = "(?i)" + given
		}
	}
	pattern, err := regexp.Compile(given)
	if err != nil {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "%s: %v", field, err)
	}
	return pattern, nil
}

// excerpt is the lines of a snapshot that match, with their neighbours and with those that they
// stand below.
func excerpt(snapshot string, pattern *regexp.Regexp) (text string, matches int) {
	lines := strings.Split(strings.TrimSuffix(snapshot, "\n"), "\n")
	isIn := make([]bool, len(lines))
	var above []int // the lines that the one in hand stands below
	for i, line := range lines {
		depth := indent(line)
		for len(above) > 0 && indent(lines[above[len(above)-1]]) >= depth {
			above = above[:len(above)-1]
		}
		if pattern.MatchString(line) {
			if matches++; matches <= maxMatches {
				for j := max(0, i-nearby); j <= min(len(lines)-1, i+nearby); j++ {
					isIn[j] = true
				}
				for _, j := range above {
					isIn[j] = true
				}
			}
		}
		above = append(above, i)
	}
	if matches == 0 {
		return "No line of the snapshot matches.", 0
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Matches: %d", matches)
	if matches > maxMatches {
		fmt.Fprintf(&b, ", the first %d", maxMatches)
	}
	b.WriteString("\n")
	isGap := false
	for i, line := range lines {
		if !isIn[i] {
			isGap = true
			continue
		}
		if isGap && i > 0 {
			b.WriteString("…\n")
		}
		isGap = false
		if b.Len()+len(line) > maxFound {
			b.WriteString("[cut: look for less]\n")
			break
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n"), matches
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
