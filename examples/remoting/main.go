// Command remoting drives a task of a cluster by messages between actors, on stock hollywood: it
// opens a question in a page, sees it, and answers it, each through a node of its own.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/anthdm/hollywood/actor"
	"github.com/anthdm/hollywood/remote"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"holdfast/messages/wire"
)

var (
	nodes = flag.String("nodes", "127.0.0.1:7074", "the nodes, as HOST:PORT with commas between them; PORT is that of the node's cluster address plus 3")
	cert  = flag.String("cert", "", "file of a certificate of the cluster's CA; none for nodes with cluster.remoting plain")
	key   = flag.String("key", "", "file of its key")
	ca    = flag.String("ca", "", "file of the CA")
	spec  = flag.String("spec", `{"launch":true}`, "the task's spec")
)

const (
	task     = "by-actors"
	patience = time.Minute
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	config := remote.NewConfig().WithBufferSize(64 << 20)
	if *cert != "" {
		identity, err := identity()
		if err != nil {
			return err
		}
		config = config.WithTLS(identity)
	}
	own, err := ownAddress()
	if err != nil {
		return err
	}
	engine, err := actor.NewEngine(actor.NewEngineConfig().WithRemote(remote.New(own, config)))
	if err != nil {
		return err
	}
	var doors []*actor.PID
	for address := range strings.SplitSeq(*nodes, ",") {
		doors = append(doors, actor.NewPID(address, "registry"))
	}
	door := func(i int) *actor.PID { return doors[i%len(doors)] }

	// Each request goes to another node: any of them answers for any task.
	if _, err := ask(engine, door(0), &wire.Start{TaskId: task, Json: []byte(*spec)}); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	fmt.Println("started")

	events := make(chan any, 1024)
	watcher := engine.SpawnFunc(func(c *actor.Context) {
		switch m := c.Message().(type) {
		case *wire.Event, *wire.Reply:
			events <- m
		}
	}, "watcher")
	if err := retry(func() error {
		engine.SendWithSender(door(1), &wire.Watch{RequestId: "w", TaskId: task}, watcher)
		m := <-events
		if r, ok := m.(*wire.Reply); ok {
			return errorOf(r)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	if _, err := ask(engine, door(2), &wire.CDP{
		TaskId: task, Method: "Runtime.evaluate",
		Params: []byte(`{"expression":"setTimeout(()=>{alert('shall it be so?')},0)"}`),
	}); err != nil {
		return fmt.Errorf("cdp: %w", err)
	}
	if err := await(events, "dialog_opened"); err != nil {
		return err
	}
	fmt.Println("a dialog is open")
	result, err := ask(engine, door(2), &wire.Answer{TaskId: task, Action: "accept"})
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	fmt.Println("answered:", string(result))
	if err := await(events, "dialog_closed"); err != nil {
		return err
	}

	// A program that links no messages of ours asks in JSON.
	said, err := engine.Request(door(1), wrapperspb.Bytes([]byte(`{"ask":"list","request_id":"1"}`)), patience).Result()
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	list, ok := said.(*wrapperspb.BytesValue)
	if !ok || !json.Valid(list.GetValue()) {
		return fmt.Errorf("list: %v", said)
	}
	fmt.Println("listed in JSON")

	if _, err := ask(engine, door(0), &wire.Stop{TaskId: task}); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	for m := range events {
		if r, ok := m.(*wire.Reply); ok {
			fmt.Println("stopped")
			return errorOf(r)
		}
	}
	return nil
}

// ask sends a request, and waits for its reply. A node hears of a task that another one has just
// started after some milliseconds, so that is asked for again.
func ask(e *actor.Engine, to *actor.PID, msg any) (result []byte, err error) {
	err = retry(func() error {
		said, err := e.Request(to, msg, patience).Result()
		if err != nil {
			return err
		}
		reply, ok := said.(*wire.Reply)
		if !ok {
			return fmt.Errorf("the node answers %T", said)
		}
		result = reply.GetJson()
		return errorOf(reply)
	})
	return result, err
}

// failure is the contract's error.
type failure struct{ code, message string }

func (f *failure) Error() string { return f.code + ": " + f.message }

func errorOf(r *wire.Reply) error {
	if e := r.GetError(); e != nil {
		return &failure{e.GetCode(), e.GetMessage()}
	}
	return nil
}

func retry(what func() error) error {
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		err := what()
		var f *failure
		if !errors.As(err, &f) || f.code != "task_not_found" || time.Now().After(end) {
			return err
		}
	}
}

// await waits for an event.
func await(events <-chan any, what string) error {
	for end := time.After(patience); ; {
		select {
		case m := <-events:
			if e, ok := m.(*wire.Event); ok && e.GetType() == what {
				return nil
			}
			if r, ok := m.(*wire.Reply); ok {
				return fmt.Errorf("the watch ended before %s: %v", what, errorOf(r))
			}
		case <-end:
			return errors.New("not in time: " + what)
		}
	}
}

// ownAddress is one that nothing listens on: it is part of every PID of this program, and the
// nodes dial it for their replies.
func ownAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func identity() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(*ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, errors.New(*ca + " has no certificate")
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair},
		RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}, nil
}
