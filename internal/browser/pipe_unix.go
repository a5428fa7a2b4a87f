//go:build unix

package browser

import (
	"os"
	"os/exec"
)

// connectPipes gives cmd the descriptors 3 and 4, which Chromium reads from and writes
// to. Started has to be called once cmd was started, or was not.
func connectPipes(cmd *exec.Cmd) (ends *pipeEnds, started func(), err error) {
	theirsIn, to, err := blockingPipe(false)
	if err != nil {
		return nil, nil, err
	}
	from, theirsOut, err := blockingPipe(true)
	if err != nil {
		_, _ = theirsIn.Close(), to.Close()
		return nil, nil, err
	}
	cmd.ExtraFiles = []*os.File{theirsIn, theirsOut}
	return &pipeEnds{from: from, to: to}, func() { _, _ = theirsIn.Close(), theirsOut.Close() }, nil
}
