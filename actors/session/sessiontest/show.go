package sessiontest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// showEffect prints an effect on one line: what is sent to the browser after
// ">", what goes to another actor after its name.
func showEffect(e effect.Effect) string {
	switch e := e.(type) {
	case effect.Command:
		s := "> " + e.Method
		if e.Session != "" {
			s = fmt.Sprintf("> (%s) %s", e.Session, e.Method)
		}
		if len(e.Params) > 0 {
			params := string(e.Params)
			if len(params) > 300 {
				params = fmt.Sprintf("%.40s… (%d bytes)", params, len(params)/1000*1000)
			}
			s += " " + params
		}
		if e.Timeout > 0 {
			s += fmt.Sprintf(" within %v", e.Timeout)
		}
		return s
	case effect.ToDialog:
		return "dialog: " + showFact(e.Msg)
	case effect.ToFrame:
		return "frame: " + showFact(e.Msg)
	case effect.ToSupervisor:
		return "supervisor: " + showFact(e.Msg)
	case effect.Arm:
		return fmt.Sprintf("arm %s %v", e.Timer, e.After)
	case effect.Disarm:
		return "disarm " + e.Timer.String()
	case effect.Restore:
		if e.IsRevived {
			return "restore what was not set before the crash"
		}
		return "restore what was set"
	case effect.Interrupt:
		s := "interrupt all calls"
		if e.NeedsRenderer {
			s = "interrupt calls of the renderer"
		}
		if !e.Before.IsZero() {
			s += fmt.Sprintf(" from before %v", e.Before.Sub(Epoch))
		}
		return s + ": " + showError(e.Err)
	case effect.Suspect:
		return "suspect the link"
	case effect.Exit:
		return "exit: " + showError(e.Err)
	}
	return fmt.Sprintf("unknown effect %T", e)
}

// showFact prints a message's name and those of its fields that say something.
func showFact(msg any) string {
	v := reflect.ValueOf(msg)
	return v.Type().Name() + showFields(v)
}

func showFields(v reflect.Value) string {
	var b strings.Builder
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, v.Field(i)
		if f.IsZero() || name == "Gen" || name == "Heard" || name == "Since" { // the time stands beside each event
			continue
		}
		switch value := f.Interface().(type) {
		case bool:
			fmt.Fprintf(&b, " %s", strings.ToLower(name))
		case error:
			fmt.Fprintf(&b, " %s", showError(value))
		case mail.FrameInfo, mail.TargetInfo:
			fmt.Fprintf(&b, " {%s}", strings.TrimSpace(showFields(f)))
		case []mail.FrameInfo:
			for j := range value {
				fmt.Fprintf(&b, " {%s}", strings.TrimSpace(showFields(f.Index(j))))
			}
		case string, messages.DialogType:
			fmt.Fprintf(&b, " %s=%q", strings.ToLower(name), value)
		default:
			fmt.Fprintf(&b, " %s=%v", strings.ToLower(name), value)
		}
	}
	return b.String()
}

func showAnswer(value any, err error) string {
	switch {
	case err != nil:
		return showError(err)
	case value == nil:
		return "done"
	case reflect.TypeOf(value).Kind() == reflect.Struct:
		return showFact(value)
	}
	return fmt.Sprint(value)
}

func showError(err error) string {
	if err == nil {
		return "no error"
	}
	s := err.Error()
	var e *messages.Error
	if errors.As(err, &e) {
		if dialogs, ok := e.Details["pending_dialogs"].([]messages.Dialog); ok {
			for _, d := range dialogs {
				s += " [" + string(d.ID) + "]"
			}
		}
	}
	return s
}
