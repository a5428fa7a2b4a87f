package cli

import (
	"context"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"

	"holdfast/messages"
)

// completionTime is how long the node may take to name its tasks: the shell's prompt
// waits for it.
const completionTime = time.Second

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help implements kong.HelpProvider.
func (*completionCmd) Help() string {
	return `Examples:
  source <(holdfast completion bash)                 (in ~/.bashrc)
  source <(holdfast completion zsh)                  (in ~/.zshrc)
  holdfast completion fish | source                  (in ~/.config/fish/config.fish)`
}

// Run implements the command. What it prints has the shell run this program with
// COMP_LINE set, so that what is offered is what this binary understands.
func (c *completionCmd) Run(k *kong.Context) error {
	return (&kongcompletion.Completion{Shell: c.Shell, Code: true}).Run(k)
}

// isCompleting says whether a shell asks how a command line may continue.
func (p *Program) isCompleting() bool { return p.Getenv("COMP_LINE") != "" }

// complete prints how the command line of COMP_LINE may continue: commands, flags, the
// values of a flag, and the tasks of the node.
func (p *Program) complete(ctx context.Context, parser *kong.Kong) {
	kongcompletion.Register(parser, kongcompletion.WithPredictors(map[string]complete.Predictor{
		"task":    complete.PredictFunc(func(complete.Args) []string { return p.tasks(ctx) }),
		"policy":  complete.PredictSet(string(messages.PolicyMustRespond), string(messages.PolicyAutoDismiss), string(messages.PolicyAutoAccept)),
		"recover": complete.PredictSet(words(messages.RecoverActions())...),
	}))
}

// tasks are the ids of the node's tasks; none where it cannot be asked.
func (p *Program) tasks(ctx context.Context) (ids []string) {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	node, err := (&run{Context: ctx, Program: p}).clientThat(nil)
	if err != nil {
		return nil
	}
	defer node.Close()
	tasks, err := node.Tasks(ctx, nil)
	if err != nil {
		return nil
	}
	for _, t := range tasks {
		ids = append(ids, string(t.TaskID))
	}
	return ids
}

// words are texts of another type.
func words[T ~string](of []T) (out []string) {
	for _, w := range of {
		out = append(out, string(w))
	}
	return out
}
