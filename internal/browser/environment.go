package browser

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// letThrough are the variables of the node that a browser gets. A name that ends in *
// stands for all that begin so. What is not named stays here: an environment holds
// credentials of many kinds, and a page that breaks out of its renderer reads it.
var letThrough = append([]string{"LANG", "LANGUAGE", "LC_*", "TZ"}, systemVariables...)

// environment is what of the node's environment a browser gets: the list above, and
// names that the operator has added. A variable of Holdfast's own is never among it.
func environment(added []string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !isAmong([]string{"HOLDFAST_*"}, name) && (isAmong(letThrough, name) || isAmong(added, name)) {
			env = append(env, kv)
		}
	}
	return env
}

func isAmong(list []string, name string) bool {
	return slices.ContainsFunc(list, func(allowed string) bool {
		if stem, isStem := strings.CutSuffix(allowed, "*"); isStem && stem != "" {
			return len(name) >= len(stem) && isSameName(name[:len(stem)], stem)
		}
		return isSameName(name, allowed)
	})
}

// environmentFor moves what Chromium would leave behind outside its profile
// into it: crash dumps, which hold pages' memory and would go to the user's
// own ~/.config, and the socket directories that a killed browser leaks in
// the system's temporary directory.
//
// A browser that may not use the node's home has one there, too: a user of its own may
// enter no other, and has no session of the desktop.
func environmentFor(profile string, added []string, hasOwnHome bool) []string {
	env := environment(added)
	if hasOwnHome {
		env = slices.DeleteFunc(env, func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return isAmong([]string{"HOME", "XDG_*", "DBUS_*", "XAUTHORITY"}, name) && !isAmong(added, name)
		})
		env = append(env, "HOME="+filepath.Join(profile, homeDir))
	}
	env = append(env, "BREAKPAD_DUMP_LOCATION="+filepath.Join(profile, crashDir))
	return append(env, temporaryVariables(profile)...)
}
