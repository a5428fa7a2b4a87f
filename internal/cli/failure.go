package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"holdfast/client"
	"holdfast/messages"
)

// Codes of failures on this machine, which no node has told.
const (
	codeAddressInUse messages.Code = "address_in_use"
	codeNoToken      messages.Code = "no_token"
	codeCheckFailed  messages.Code = "check_failed"
)

// usageError is a command line that makes no sense. command is the one whose
// help explains it, "" for the program's.
type usageError struct {
	err     error
	command string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{err: messages.Errorf(messages.CodeInvalidArgument, format, args...)}
}

// misparsed is kong's refusal of a command line.
func misparsed(err error) error {
	e := &usageError{err: err}
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		e.command = commandOf(parse.Context)
	}
	if e.command == "" && strings.HasPrefix(err.Error(), "unknown flag") {
		e.err = fmt.Errorf("%w; flags stand behind the command", err)
	}
	return e
}

// commandOf is the command without its arguments: "task start".
func commandOf(c *kong.Context) string {
	var words []string
	for _, p := range c.Path {
		if p.Command != nil {
			words = append(words, p.Command.Name)
		}
	}
	return strings.Join(words, " ")
}

// taskOf is the task that a command names, or "".
func taskOf(c *kong.Context) messages.TaskID {
	for _, p := range c.Path {
		if p.Positional == nil {
			continue
		}
		if id, ok := p.Positional.Target.Interface().(taskID); ok {
			return id.TaskID
		}
	}
	return ""
}

// failing is what the message of a failure needs to know of its command.
type failing struct {
	command string
	task    messages.TaskID
	// isJSON has standard output get the error too, as the node sends it, unless it
	// hasOutput: one command prints one JSON value.
	isJSON, hasOutput bool
}

// fail prints the error and returns its exit code.
func (p *Program) fail(err error, of failing) int {
	if err == nil {
		return exitOK
	}
	own := &messages.Error{Code: messages.CodeInternal, Message: err.Error()}
	var (
		usage *usageError
		gone  *client.Unreachable
	)
	errors.As(err, &own)
	exit, hint, line := exitRefused, "", ""
	switch {
	case errors.As(err, &usage):
		invalid := *own
		invalid.Code = messages.CodeInvalidArgument
		own, exit = &invalid, exitUsage
		own.Message += " (see holdfast " + strings.TrimSpace(firstOf(usage.command, of.command)+" --help") + ")"
	case errors.As(err, &gone):
		own, exit = &messages.Error{Code: messages.CodeUpstreamUnavailable, Message: gone.Error()}, exitUnreachable
	default:
		if hint = hintFor(own, of.task); hint != "" {
			// The message names the request that helps; here a command does.
			line = strings.TrimSuffix(own.Message, "; "+own.Hint)
		}
	}
	if of.isJSON && !of.hasOutput {
		_ = json.NewEncoder(p.Stdout).Encode(map[string]any{"error": own})
	}
	fmt.Fprintf(p.Stderr, "%s: %s\n", own.Code, clean(firstOf(line, own.Message)))
	printDetails(p.Stderr, own)
	if hint != "" {
		fmt.Fprintf(p.Stderr, "  → %s\n", clean(hint))
	}
	return exit
}

// dialogKeys are the details that hold dialogs: those that block a call, and those
// that an answer may mean.
var dialogKeys = []string{"pending_dialogs", "candidates"}

// dialogsOf are the dialogs among an error's details.
func dialogsOf(e *messages.Error) (dialogs []messages.Dialog) {
	for _, key := range dialogKeys {
		b, err := json.Marshal(e.Details[key])
		if err != nil {
			continue
		}
		var some []messages.Dialog
		if json.Unmarshal(b, &some) == nil { // what is of another kind is printed as it is
			dialogs = append(dialogs, some...)
		}
	}
	return dialogs
}

// inWords are the details that a hint replaces.
var inWords = []string{"task_id"}

// printDetails prints the dialogs one by one, and the rest as JSON.
func printDetails(w io.Writer, e *messages.Error) {
	dialogs := dialogsOf(e)
	for _, d := range dialogs {
		printAsked(w, d)
	}
	rest := map[string]any{}
	maps.Copy(rest, e.Details)
	if e.Sent != messages.SentUnknown {
		rest["sent"] = e.Sent == messages.SentYes
	}
	maps.DeleteFunc(rest, func(key string, _ any) bool {
		return slices.Contains(inWords, key) || len(dialogs) > 0 && slices.Contains(dialogKeys, key)
	})
	if len(rest) == 0 {
		return
	}
	if b, err := json.Marshal(rest); err == nil {
		fmt.Fprintf(w, "  details: %s\n", clean(string(b)))
	}
}

// printAsked prints a dialog that stands in the way, and how it is answered.
func printAsked(w io.Writer, d messages.Dialog) {
	fmt.Fprintf(w, "  %s %s\n", clean(string(d.ID)), clean(d.Type))
	quoted(w, "  ", d.Message)
}

// hintFor says which command helps, where one does.
func hintFor(e *messages.Error, task messages.TaskID) string {
	if e.Hint != "" && task == "" {
		return e.Hint
	}
	switch e.Code {
	case messages.CodeTaskNotFound, messages.CodeUpstreamUnavailable:
		if e.Hint != "" {
			return fmt.Sprintf("start it: holdfast task start %s", task)
		}
	case messages.CodeBlockedByDialog, messages.CodeDialogAmbiguous:
		if len(dialogsOf(e)) == 1 {
			return fmt.Sprintf("answer: holdfast dialog accept %s, or holdfast dialog dismiss %s", task, task)
		}
		return fmt.Sprintf("answer: holdfast dialog accept %s --dialog ID", task)
	}
	return ""
}
