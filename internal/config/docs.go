package config

import (
	"fmt"
	"strings"
)

// Markdown is the reference of every setting, docs/configuration.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(intro)
	group := ""
	for i := range table.keys {
		k := &table.keys[i]
		in, _, nested := strings.Cut(k.Path, ".")
		switch {
		case !nested && i == 0:
			b.WriteString("\n## The node\n\n")
			tableHead(&b)
		case nested && in != group:
			group = in
			fmt.Fprintf(&b, "\n## `%s`\n\n%s\n\n", in, groupHelp(in))
			tableHead(&b)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Path, k.KindName(), k.defaultCell(), k.helpCell())
	}
	b.WriteString("\n## Flags and variables\n\n| key | flag | variable |\n|---|---|---|\n")
	for i := range table.keys {
		k := &table.keys[i]
		fmt.Fprintf(&b, "| `%s` | `--%s` | `%s` |\n", k.Path, k.Flag, k.Env)
	}
	b.WriteString(outro)
	return b.String()
}

func tableHead(b *strings.Builder) {
	b.WriteString("| key | value | default | |\n|---|---|---|---|\n")
}

func groupHelp(path string) string {
	for _, g := range table.groups {
		if g.Path == path {
			return g.Help
		}
	}
	return ""
}

func (k *Key) defaultCell() string {
	if k.Default == "" {
		return k.Empty
	}
	return "`" + k.Default + "`"
}

// Bounds says between what a value has to be, "" where anything goes.
func (k *Key) Bounds() string {
	switch {
	case k.min != nil && k.max != nil:
		return "from " + k.kind.format(k.min) + " to " + k.kind.format(k.max)
	case k.min != nil:
		return k.kind.format(k.min) + " or more"
	case k.max != nil:
		return k.kind.format(k.max) + " or less"
	}
	return ""
}

func (k *Key) helpCell() string {
	s := k.Help
	if b := k.Bounds(); b != "" {
		s += " " + strings.ToUpper(b[:1]) + b[1:] + "."
	}
	if k.CanReload {
		s += " Reloaded on SIGHUP."
	}
	return strings.ReplaceAll(s, "|", `\|`)
}

const intro = `# Configuration

<!-- Made from internal/config: go test ./internal/config -run TestDocumentation -update -->

A node is configured by one YAML file, by variables, and by flags:

` + "```sh" + `
holdfast serve --config /etc/holdfast.yaml --max-tasks 200
holdfast config check /etc/holdfast.yaml          # is it right? exit code 0 or 1
holdfast config print --config /etc/holdfast.yaml # what holds in the end, and where each value comes from
holdfast doctor --config /etc/holdfast.yaml       # does this machine have what that needs? with all flags of serve
` + "```" + `

A flag wins over its variable, a variable over the file, the file over the default.
` + "`HOLDFAST_CONFIG`" + ` names the file where ` + "`--config`" + ` does not. JSON is YAML, too.

` + "```yaml" + `
listen: 127.0.0.1:7070
limits:
  max_tasks: 200
  idle_timeout: 15m
logging:
  format: json
` + "```" + `

What the file holds has to make sense: a key that does not exist or is there twice, a
value of the wrong type and one that is out of bounds are errors that name line and
column, and the node does not start. An unknown ` + "`HOLDFAST_`" + ` variable is a warning. A
variable that is set to nothing is not set.

A duration has a unit (` + "`90s`, `15m`, `24h`" + `). In a variable, the items of a list are
separated by blanks. Anchors, aliases and tags are not taken. The file may be 64 KiB.

A file with a credential in it is refused when it is yours and others can read it, as
ssh does it: ` + "`chmod 600`" + `.
`

const outro = `
Commands that talk to a node have three of their own: ` + "`HOLDFAST_NODE`" + `, the node's
URL; ` + "`HOLDFAST_TOKEN`" + `, the token itself; ` + "`HOLDFAST_STATE_DIR`" + `, where the node of this
machine has left both.

## Changing a running node

` + "`SIGHUP`" + ` (` + "`systemctl reload`" + `) reads the file again. What is marked as reloaded is
applied; one line in the log says what has changed. For anything else the log names the
key, and the change waits for the next start. A file that is not right changes nothing:
the log says what is wrong with it, and the node keeps its settings.
`
