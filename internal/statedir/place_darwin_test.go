package statedir_test

func systemRows() []row {
	return []row{
		{"its own variable wins", map[string]string{"HOLDFAST_STATE_DIR": "/s", "HOME": "/h"}, "/s"},
		{"home", map[string]string{"HOME": "/h"}, "/h/Library/Application Support/holdfast"},
	}
}
