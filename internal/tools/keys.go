package tools

import (
	"slices"
	"strings"
	"unicode/utf8"

	"holdfast/messages"
)

// key is one key as Input.dispatchKeyEvent wants it.
type key struct {
	name, code string
	number     int
	text       string
}

// namedKeys are the keys that have no character, and those whose character is no letter.
var namedKeys = map[string]key{
	"enter": {"Enter", "Enter", 13, "\r"}, "tab": {"Tab", "Tab", 9, ""}, "escape": {"Escape", "Escape", 27, ""}, "backspace": {"Backspace", "Backspace", 8, ""},
	"delete": {"Delete", "Delete", 46, ""}, "insert": {"Insert", "Insert", 45, ""}, "space": {" ", "Space", 32, " "},
	"arrowleft": {"ArrowLeft", "ArrowLeft", 37, ""}, "arrowup": {"ArrowUp", "ArrowUp", 38, ""}, "arrowright": {"ArrowRight", "ArrowRight", 39, ""}, "arrowdown": {"ArrowDown", "ArrowDown", 40, ""},
	"home": {"Home", "Home", 36, ""}, "end": {"End", "End", 35, ""}, "pageup": {"PageUp", "PageUp", 33, ""}, "pagedown": {"PageDown", "PageDown", 34, ""},
	"f1": {"F1", "F1", 112, ""}, "f2": {"F2", "F2", 113, ""}, "f3": {"F3", "F3", 114, ""}, "f4": {"F4", "F4", 115, ""}, "f5": {"F5", "F5", 116, ""}, "f6": {"F6", "F6", 117, ""},
	"f7": {"F7", "F7", 118, ""}, "f8": {"F8", "F8", 119, ""}, "f9": {"F9", "F9", 120, ""}, "f10": {"F10", "F10", 121, ""}, "f11": {"F11", "F11", 122, ""}, "f12": {"F12", "F12", 123, ""},
}

// modifiers are the bits of CDP's modifiers, with the keys that set them.
var modifiers = map[string]struct {
	bit int
	key key
}{
	"alt": {1, key{"Alt", "AltLeft", 18, ""}}, "control": {2, key{"Control", "ControlLeft", 17, ""}},
	"meta": {4, key{"Meta", "MetaLeft", 91, ""}}, "shift": {8, key{"Shift", "ShiftLeft", 16, ""}},
}

// parseKeys reads a key with its modifiers, such as Control+Shift+A.
func parseKeys(text string) (mods []string, k key, err error) {
	parts := strings.Split(text, "+")
	if text == "+" || strings.HasSuffix(text, "++") {
		parts = append(strings.Split(strings.TrimSuffix(strings.TrimSuffix(text, "+"), "+"), "+"), "+")
		if text == "+" {
			parts = []string{"+"}
		}
	}
	if mods, err = parseModifiers(parts[:len(parts)-1]); err != nil {
		return nil, key{}, err
	}
	last := parts[len(parts)-1]
	if k, ok := namedKeys[strings.ToLower(last)]; ok {
		return mods, k, nil
	}
	if utf8.RuneCountInString(last) != 1 {
		return nil, key{}, messages.Errorf(messages.CodeInvalidArgument, "key: %q is no key; give one such as Enter, ArrowDown, a, or Control+A", cut(last, 20))
	}
	return mods, character(last), nil
}

// parseModifiers reads the names of modifiers.
func parseModifiers(given []string) (names []string, err error) {
	for _, m := range given {
		name := strings.ToLower(m)
		switch name {
		case "ctrl", "controlormeta": // browsers of nodes are not a Mac's
			name = "control"
		}
		if _, ok := modifiers[name]; !ok {
			return nil, messages.Errorf(messages.CodeInvalidArgument, "%q is no modifier; there are Alt, Control, Meta and Shift", cut(m, 20))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// character is the key of one character.
func character(s string) key {
	r, _ := utf8.DecodeRuneInString(s)
	k := key{name: s, text: s}
	switch {
	case r >= 'a' && r <= 'z':
		k.code, k.number = "Key"+strings.ToUpper(s), int(r-'a'+'A')
	case r >= 'A' && r <= 'Z':
		k.code, k.number = "Key"+s, int(r)
	case r >= '0' && r <= '9':
		k.code, k.number = "Digit"+s, int(r)
	}
	return k
}
