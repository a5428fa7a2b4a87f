package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTheCodeIsThatOfTheMessages(t *testing.T) {
	want, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../" + target)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what go generate ./messages/wire makes: %v", target, err)
	}
}
