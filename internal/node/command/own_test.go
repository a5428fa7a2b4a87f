package command

import (
	"testing"

	"holdfast/transport/quirks"
)

// What the verdict leaves to the node, the node carries out, and nothing else.
func TestTheNodeCarriesOutWhatIsItsOwn(t *testing.T) {
	t.Parallel()
	for method := range own {
		if !quirks.LosesInChrome(method) {
			t.Errorf("%s is carried out here, and the verdict forwards it", method)
		}
	}
	for _, method := range []string{"Page.close", "Page.handleJavaScriptDialog", "Target.createTarget", "Target.closeTarget", "Target.getTargets"} {
		if own[method] == nil {
			t.Errorf("%s has nothing that carries it out", method)
		}
	}
}
