package messages_test

import (
	"encoding/json"
	"testing"

	"holdfast/messages"
)

func TestPageChangeIsAListOfFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set  messages.PageChange
		json string
	}{
		{messages.PageURLChanged | messages.PageBridgeChanged, `["url","bridge"]`},
		{messages.PageTitleChanged | messages.PageStateChanged | messages.PageSessionChanged, `["title","page_state","session_id"]`},
	} {
		b, err := json.Marshal(c.set)
		if err != nil || string(b) != c.json {
			t.Errorf("%s, %v; want %s", b, err, c.json)
		}
		var back messages.PageChange
		if err := json.Unmarshal(b, &back); err != nil || back != c.set {
			t.Errorf("%s is read as %v, %v", b, back, err)
		}
	}
	var newer messages.PageChange
	if err := json.Unmarshal([]byte(`["favicon","url"]`), &newer); err != nil || newer != messages.PageURLChanged {
		t.Errorf("a name of a newer node: %v, %v", newer, err)
	}
	if err := json.Unmarshal([]byte(`"url"`), &newer); err == nil {
		t.Error("a text is taken for a list")
	}
	if b, err := json.Marshal(messages.Event{Type: messages.EventFrames}); err != nil || string(b) != `{"type":"frames_changed","task_id":"","version":0,"at":0}` {
		t.Errorf("an event without a change: %s, %v", b, err)
	}
}
