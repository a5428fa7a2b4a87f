package statedir_test

func systemRows() []row {
	return []row{
		{"its own variable wins", map[string]string{"HOLDFAST_STATE_DIR": `C:\s`, "LocalAppData": `C:\l`}, `C:\s`},
		{"the user's", map[string]string{"LocalAppData": `C:\l`}, `C:\l\holdfast`},
	}
}
