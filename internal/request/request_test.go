package request_test

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"holdfast/internal/request"
	"holdfast/messages"
)

// every is one of each option.
var every = map[string]messages.CallOption{
	"Within": messages.Within(time.Second), "AwaitLink": messages.AwaitLink(time.Second), "OnPage": messages.OnPage("P"),
	"OnFrame": messages.OnFrame("F"), "Until": messages.Until(messages.WaitLoad), "AwaitDialog": messages.AwaitDialog(),
	"ToDialog": messages.ToDialog("d-1"), "WithPromptText": messages.WithPromptText(""), "ByHuman": messages.ByHuman(), "FullTree": messages.FullTree(), "AfterVersion": messages.AfterVersion(0),
}

func TestAnOptionThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, c := range []struct {
		call  string
		takes []string
		make  func(messages.CallOption) error
	}{
		{"Navigate", []string{"Within", "AwaitLink", "OnPage", "Until"}, func(o messages.CallOption) error {
			_, err := request.Navigate(ctx, "http://x/", []messages.CallOption{o})
			return err
		}},
		{"CDP", []string{"Within", "AwaitLink", "OnPage", "OnFrame", "AwaitDialog"}, func(o messages.CallOption) error {
			_, err := request.CDP(ctx, "A.b", nil, []messages.CallOption{o})
			return err
		}},
		{"Answer", []string{"AwaitLink", "ByHuman", "ToDialog", "WithPromptText"}, func(o messages.CallOption) error {
			_, err := request.Answer(messages.ActionAccept, []messages.CallOption{o})
			return err
		}},
		{"Recover", []string{"AwaitLink", "OnPage"}, func(o messages.CallOption) error {
			_, err := request.Recover(messages.RecoverReload, []messages.CallOption{o})
			return err
		}},
		{"Snapshot", []string{"OnPage", "FullTree"}, func(o messages.CallOption) error {
			_, err := request.Snapshot([]messages.CallOption{o})
			return err
		}},
		{"Events", []string{"AfterVersion"}, func(o messages.CallOption) error {
			_, err := request.Events([]messages.CallOption{o})
			return err
		}},
	} {
		takes := map[string]bool{}
		for _, name := range c.takes {
			takes[name] = true
		}
		for name, o := range every {
			err := c.make(o)
			if takes[name] != (err == nil) || err != nil && messages.CodeOf(err) != messages.CodeInvalidArgument {
				t.Errorf("%s with %s: %v", c.call, name, err)
			}
		}
	}
	if n := reflect.TypeFor[messages.CallOptions]().NumField(); n != len(every) {
		t.Errorf("%d options are tried, and there are %d", len(every), n)
	}
}

func TestWhatACallSays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := func(d time.Duration) context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			t.Cleanup(cancel)
			return ctx
		}
		for name, c := range map[string]struct {
			ctx  context.Context
			opts []messages.CallOption
			want float64
		}{
			"nothing said":               {t.Context(), nil, 0},
			"what is left of ctx":        {in(90 * time.Second), nil, 90},
			"a ctx longer than a call":   {in(time.Hour), nil, 300},
			"a ctx that is almost over":  {in(time.Microsecond), nil, 0.01},
			"an option counts, not ctx":  {in(time.Second), []messages.CallOption{messages.Within(2 * time.Second)}, 2},
			"a bad option is the node's": {t.Context(), []messages.CallOption{messages.Within(-time.Second)}, -1},
		} {
			r, err := request.Navigate(c.ctx, "http://x/", c.opts)
			if err != nil || r.TimeoutS != c.want {
				t.Errorf("%s: %v, %v", name, r.TimeoutS, err)
			}
		}
		r, err := request.CDP(t.Context(), "Page.navigate", page.NavigateParams{URL: "http://x/?a&b"}, []messages.CallOption{messages.AwaitLink(0)})
		var p page.NavigateParams
		if err != nil || json.Unmarshal(r.Params, &p) != nil || p.URL != "http://x/?a&b" || r.WaitS == nil || *r.WaitS != 0 || r.Validate() != nil {
			t.Errorf("%+v, %v", r, err)
		}
		for _, raw := range []any{json.RawMessage(`{"a" : 1}`), []byte(`{"a" : 1}`)} {
			if r, err := request.CDP(t.Context(), "A.b", raw, nil); err != nil || string(r.Params) != `{"a" : 1}` {
				t.Errorf("%T: %s, %v", raw, r.Params, err)
			}
		}
		if _, err := request.CDP(t.Context(), "A.b", math.NaN(), nil); messages.CodeOf(err) != messages.CodeInvalidArgument {
			t.Error(err)
		}
	})
}

func TestExecutor(t *testing.T) {
	t.Parallel()
	var reply string
	e := request.Executor(func(_ context.Context, method string, params any) (json.RawMessage, error) {
		if reply == "" {
			return nil, messages.Errorf(messages.CodeBlockedByDialog, "a dialog is open")
		}
		return json.RawMessage(reply), nil
	})
	call := func() (page.NavigateResult, error) {
		return cdp.Call(t.Context(), e, page.Navigate, page.NavigateParams{URL: "http://x/"})
	}
	if _, err := call(); messages.CodeOf(err) != messages.CodeBlockedByDialog {
		t.Error(err)
	}
	reply = `{"frameId":"F","unknown":1}`
	if r, err := call(); err != nil || r.FrameID != "F" {
		t.Error(r, err)
	}
	reply = `{"frameId":1}`
	if _, err := call(); messages.CodeOf(err) != messages.CodeCDPError {
		t.Error(err)
	}
	errs := 0
	for _, err := range cdp.Events(t.Context(), e, page.LoadEventFired) {
		if err == nil {
			t.Error("an event from nowhere")
		}
		errs++
	}
	if errs != 1 {
		t.Errorf("%d errors", errs)
	}
}
