package statedir_test

func systemRows() []row {
	return []row{
		{"its own variable wins", map[string]string{"HOLDFAST_STATE_DIR": "/s", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/s"},
		{"the desktop's", map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/holdfast"},
		{"a relative one does not count", map[string]string{"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/holdfast"},
		{"home", map[string]string{"HOME": "/h"}, "/h/.local/state/holdfast"},
	}
}
