package page

// HasDocument reads the result of Page.getNavigationHistory.
func HasDocument(result []byte) bool { return hasDocument(result) }
