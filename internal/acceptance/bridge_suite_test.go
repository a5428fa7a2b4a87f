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
//
// Two rows cannot exist there. D16, another client answers: over the bridge none can, for
// there is no dialog that it could handle; one that resumes the page has it ask again
// (TestBridge_PausesOfOthersAreLeftAlone), one that fails its request dismisses it
// (TestC41_ARequestThatIsAbortedIsADismissal). D17, whose end a closing event is of:
// there is none, since a call has a name. What natively shows both, a dialog that the
// service closes, is TestBridge_AutoFindsOutOnAHostedBrowser.
var suite = map[string]func(*testing.T){
	"D1": TestD1_EveryTypeIsDetected, "D2": TestD2_IDsGrow, "D3": TestD3_ADialogWaitsForAnAnswer,
	"D4": TestD4_TheWatchdogDismisses, "D5": TestD5_AutoDismiss, "D6": TestD6_AutoAccept, "D7": TestD7_APolicyIsOfItsTask,
	"D8": TestD8_TheFullLoopOnAPrompt, "C3": TestC3_AnAcceptedPromptWithoutTextReturnsItsDefault,
	"C10": TestC10_Beforeunload, "C13": TestC13_WhatElseEndsADialog,
	"D9": TestD9_ABadAction, "D10": TestD10_NothingPending, "D11": TestD11_SeveralPendingNeedAnID,
	"D12": TestD12_AnUnknownID, "D13": TestD13_TextIsForPromptsOnly,
	"D14": TestD14_HistoryKeepsTheNewest20, "D15": TestD15_ThePolicysRecordStays,
	"D18": TestD18_ADialogOfAnOOPIF, "D18 every frame": TestD18_EveryKindOfFrame, "C7": TestC7_AFramesDialogIsAnsweredWhileItsPageRuns,
	"D19": TestD19_TheBridgeAnswersWithoutANativeDialog, "D20": TestD20_ThePageGetsTheAgentsText,
	"D21": TestD21_TheFunctionsLookAndConvertLikeTheRealOnes, "D22": TestD22_TheFirstScriptOfEverySessionIsBridged,
	"D23": TestD23_WhatOthersInterceptIsTheirs, "D25": TestD25_WhatEscapesTheBridgeIsNative,
	"M7":  TestM7_TwoBridgedDialogsAtOnceAreBothAnswerable,
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
func (r *rig) bridged() bool { return r.answersAsked() || r.byRequests() }

// answersAsked says that a page that asks still answers commands itself: it waits in the
// debugger.
func (r *rig) answersAsked() bool {
	return strings.HasPrefix(r.Name(), overTheBridge+"/") || strings.HasPrefix(r.Name(), onAHostedBrowser+"/")
}

// byRequests says that a page that asks waits for a request.
func (r *rig) byRequests() bool { return strings.HasPrefix(r.Name(), byRequests+"/") }

// path is how a dialog of that type has to come.
func (r *rig) path(typ messages.DialogType) messages.DialogPath {
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
