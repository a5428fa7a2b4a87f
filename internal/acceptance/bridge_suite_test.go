package acceptance_test

import (
	"encoding/json"
	"strings"
	"testing"

	"holdfast/messages"
)

// suite are the rows about dialogs that hold whichever way a dialog comes. They
// run natively under their own names, and once more over the bridge, on a browser
// that leaves no other way: see TestD24_TheSuiteOnAHostedBrowser.
var suite = map[string]func(*testing.T){
	"D1": TestD1_EveryTypeIsDetected, "D2": TestD2_IDsGrow, "D3": TestD3_ADialogWaitsForAnAnswer,
	"D4": TestD4_TheWatchdogDismisses, "D5": TestD5_AutoDismiss, "D6": TestD6_AutoAccept, "D7": TestD7_APolicyIsOfItsTask,
	"D8": TestD8_TheFullLoopOnAPrompt, "C3": TestC3_AnAcceptedPromptWithoutTextReturnsItsDefault,
	"C10": TestC10_Beforeunload, "C13": TestC13_WhatElseEndsADialog,
	"D9": TestD9_ABadAction, "D10": TestD10_NothingPending, "D11": TestD11_SeveralPendingNeedAnID,
	"D12": TestD12_AnUnknownID, "D13": TestD13_TextIsForPromptsOnly,
	"D14": TestD14_HistoryKeepsTheNewest20, "D15": TestD15_ThePolicysRecordStays,
	"D18": TestD18_ADialogOfAnOOPIF, "D18 every frame": TestD18_EveryKindOfFrame, "C7": TestC7_AFramesDialogIsAnsweredWhileItsPageRuns,
	"D28": TestD28_SecretsOfPagesAreMasked, "demand 6": TestDemand6_OfManyAnswersOneWins,
}

const overTheBridge = "TestD24_TheSuiteOverTheBridge"

// TestD24_TheSuiteOverTheBridge has the row that cuts connections by a proxy of its
// own.
func TestD24_TheSuiteOverTheBridge(t *testing.T) {
	t.Parallel()
	t.Run("M2", TestM2_ADialogOutlivesThePrimary)
}

// bridged says that this run of a row is over the bridge.
func (r *rig) bridged() bool {
	return r.answersAsked() || strings.HasPrefix(r.Name(), byRequests+"/")
}

// answersAsked says that a page that asks goes on answering questions itself: it waits
// in the debugger.
func (r *rig) answersAsked() bool {
	return strings.HasPrefix(r.Name(), overTheBridge+"/") || strings.HasPrefix(r.Name(), onAHostedBrowser+"/")
}

// path is how a dialog of that type has to come.
func (r *rig) path(typ string) string {
	if r.bridged() && typ != "beforeunload" {
		return "bridge"
	}
	return "native"
}

// blocked is what a call gets that has to wait for the open dialog of the page.
func (k *task) blocked() error {
	expression := "1"
	if k.answersAsked() {
		expression = "new Promise(() => {})"
	}
	_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{
		Method: "Runtime.evaluate", Params: json.RawMessage(`{"awaitPromise":true,"expression":"` + expression + `"}`),
	})
	return err
}
