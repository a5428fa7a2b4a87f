package dialog_test

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"holdfast/actors/dialog"
	"holdfast/internal/guard"
	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// listener is an actor that keeps what it is sent.
type listener struct{ heard chan any }

func (listener) Init(*guard.Context)                    {}
func (l listener) Receive(_ *guard.Context, msg any)    { l.heard <- msg }
func (listener) Terminate(*guard.Context, guard.Reason) {}

// TestARequestIsLetGoByItsLink, where the session that reported it has ended: the page
// waits until the request is ended.
func TestARequestIsLetGoByItsLink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sys, err := guard.NewSystem(guard.Options{})
		if err != nil {
			t.Fatal(err)
		}
		l := listener{make(chan any, 10)}
		supervisor := sys.Root(guard.Child{Kind: "test", Key: "supervisor", New: func() guard.Behavior { return l }})
		a := sys.Root(guard.Child{Kind: "test", Key: "dialog", New: func() guard.Behavior {
			spec := messages.TaskSpec{}.WithDefaults()
			return dialog.New(&spec, mail.DialogMemory{}, supervisor.PID(), 1, &shed.Counts{})
		}})
		sys.Send(a.PID(), dialog.SessionsChanged{})
		sys.Send(a.PID(), mail.DialogOpened{
			Role: messages.RolePrimary, Gen: 3, Session: "gone", Page: "P", Frame: "P",
			Pause: mail.Pause{Key: "k", Request: "job", Holder: messages.RoleAnchor, HolderGen: 2},
		})
		synctest.Wait()
		if err := sys.Close(t.Context()); err != nil {
			t.Error(err)
		}
		close(l.heard)
		var heard []any
		for msg := range l.heard {
			heard = append(heard, msg.(mail.FromDialog).Msg)
		}
		want := mail.EndRequest{Role: messages.RoleAnchor, Gen: 2, Request: "job"}
		if !slices.ContainsFunc(heard, func(msg any) bool { return reflect.DeepEqual(msg, want) }) {
			t.Errorf("heard %+v, want %+v", heard, want)
		}
	})
}
