package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"holdfast/internal/config"
)

type manCmd struct{}

// Help implements kong.HelpProvider.
func (*manCmd) Help() string {
	return `Examples:
  holdfast man | man -l -
  holdfast man > /usr/local/share/man/man1/holdfast.1`
}

// Run implements the command.
func (*manCmd) Run(r *run, k *kong.Context) error {
	_, err := io.WriteString(r.Stdout, manual(k.Model, r.Version.Version))
	return err
}

// manual is the manual page in the macros of man(7). It is made from the grammar and
// has no date: a release that is built again has the same bytes.
func manual(app *kong.Application, version string) string {
	var b strings.Builder
	title, more, _ := strings.Cut(app.Help, "\n")
	fmt.Fprintf(&b, ".TH HOLDFAST 1 \"\" \"%s\" \"User Commands\"\n", roff("holdfast "+version))
	fmt.Fprintf(&b, ".SH NAME\nholdfast \\- %s\n", roff(strings.TrimSuffix(title, ".")))
	b.WriteString(".SH SYNOPSIS\n.B holdfast\n.I command\n[\\fIarguments\\fR] [\\fIflags\\fR]\n")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n.SH COMMANDS\n", roff(strings.TrimSpace(more)))
	for _, command := range app.Leaves(true) {
		describeCommand(&b, command)
	}
	b.WriteString(manualEnd)
	return b.String()
}

const manualEnd = `.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
The node said no, or what was asked did not succeed. Its code is on standard error.
.TP
.B 2
The command line makes no sense.
.TP
.B 3
No node was reached.
.SH ENVIRONMENT
.TP
.B HOLDFAST_NODE
The node's URL, for commands that talk to one.
.TP
.B HOLDFAST_TOKEN
The token itself, for commands that talk to a node.
.TP
.B HOLDFAST_STATE_DIR
Where the node of this machine leaves its address and its token.
.TP
.B HOLDFAST_CONFIG
The configuration file of a node. Each of its settings has a variable as well, which stands behind the flag.
.TP
.B NO_COLOR
Turns colors off.
`

// settingNames are the flags of serve that are settings, which other commands have too.
var settingNames = func() (names []string) {
	for _, k := range config.Keys() {
		names = append(names, k.Flag)
	}
	return names
}()

// describeCommand writes a command with its arguments, flags and examples.
func describeCommand(b *strings.Builder, n *kong.Node) {
	fmt.Fprintf(b, ".SS %s\n%s\n", roff(n.FullPath()+arguments(n)), roff(n.Help))
	for _, p := range n.Positional {
		describeTerm(b, p.Summary(), p.Help)
	}
	isOfServe := func(f *kong.Flag) bool { return n.Name != "serve" && slices.Contains(settingNames, f.Name) }
	hasSettings := 0
	for _, f := range n.Flags {
		switch {
		case f.Name == "help" || f.Hidden:
		case isOfServe(f) && len(n.Flags) > len(settingNames):
			hasSettings++
		default:
			describeTerm(b, f.String(), f.Help)
		}
	}
	if hasSettings > 0 {
		b.WriteString(".PP\nIt has every setting of \\fBholdfast serve\\fR as a flag too.\n")
	}
	if n.Detail != "" {
		fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(n.Detail))
	}
}

// arguments are a command's positional arguments, as they are written.
func arguments(n *kong.Node) (all string) {
	for _, p := range n.Positional {
		all += " " + p.Summary()
	}
	return all
}

// describeTerm writes a flag or an argument with its help.
func describeTerm(b *strings.Builder, name, help string) {
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(help))
}

// roff escapes a text: a backslash, a hyphen that is to be copied as one, and a line
// that would begin as a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
