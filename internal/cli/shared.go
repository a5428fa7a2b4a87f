package cli

import (
	"errors"
	"slices"

	"github.com/alecthomas/kong"
)

// reaching are the flags of commands that talk to a node.
type reaching struct {
	Node      string `placeholder:"URL" group:"The node" help:"The node. Default: the one that serve runs on this machine. (HOLDFAST_NODE)"`
	TokenFile string `placeholder:"FILE" type:"path" group:"The node" help:"File that holds the token. Default: the file that serve wrote. (HOLDFAST_TOKEN: the token itself)"`
	printing
}

// printing is the flag of commands that print JSON where they are asked to.
type printing struct {
	JSON bool `name:"json" group:"Output" help:"Print JSON, as the node sent it."`
}

// shared are the values of the flags that several commands have; a flag that a command
// does not have is empty.
type shared struct {
	Node, TokenFile string
	IsJSON          bool
}

// sharedOf reads the flags of the command that was parsed.
func sharedOf(c *kong.Context) (s shared) {
	for _, f := range c.Flags() {
		switch v := c.FlagValue(f).(type) {
		case string:
			switch f.Name {
			case "node":
				s.Node = v
			case tokenFlag:
				s.TokenFile = v
			}
		case *string: // a setting that is a flag as well
			if f.Name == tokenFlag && v != nil {
				s.TokenFile = kong.ExpandPath(*v)
			}
		case bool:
			if f.Name == "json" {
				s.IsJSON = v
			}
		}
	}
	return s
}

// isJSONAsked says whether a command line that could not be parsed asks for JSON of a
// command that prints it.
func isJSONAsked(err error, args []string) bool {
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil {
		return false
	}
	hasFlag := slices.ContainsFunc(parse.Context.Flags(), func(f *kong.Flag) bool { return f.Name == "json" })
	return hasFlag && slices.Contains(args, "--json")
}
