package pressure

import "os"

// Take reads the machine the process runs on: a few small files of the kernel,
// which takes less than a millisecond.
func Take() Sample { return Read(os.DirFS("/")) }
