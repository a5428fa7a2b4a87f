package mcp

import (
	"context"
	"slices"

	"holdfast/messages"
)

// mediaFeature is a media feature by Playwright's name and by that of CSS.
type mediaFeature struct{ field, name string }

var mediaFeatures = []mediaFeature{
	{"colorScheme", "prefers-color-scheme"},
	{"reducedMotion", "prefers-reduced-motion"},
	{"forcedColors", "forced-colors"},
	{"contrast", "prefers-contrast"},
}

// mediaScript says what the page sees.
const mediaScript = `(() => {
  const is = q => matchMedia(q).matches;
  return {media: is('print') ? 'print' : 'screen', colorScheme: is('(prefers-color-scheme: dark)') ? 'dark' : 'light',
    reducedMotion: is('(prefers-reduced-motion: reduce)') ? 'reduce' : 'no-preference', forcedColors: is('(forced-colors: active)') ? 'active' : 'none',
    contrast: is('(prefers-contrast: more)') ? 'more' : 'no-preference'};
})()`

// orNull is a field of some words that null clears.
func orNull(values ...string) map[string]any {
	return map[string]any{"anyOf": []any{oneOf(values...), map[string]any{"type": "null"}}}
}

// emulated makes of Playwright's browser_emulate_media a command of CDP, which sets all features at
// once: one that is left out stays as the page sees it.
func emulated(_ context.Context, ask asking, in map[string]any) (string, error) {
	seen, err := ask("browser_evaluate", map[string]any{"expression": mediaScript})
	if err != nil {
		return "", err
	}
	if seen.Error != nil {
		return "", seen.Error
	}
	data, _ := seen.Data.(map[string]any)
	now, _ := data["value"].(map[string]any)
	wanted := func(field string, values ...string) (string, error) {
		given, isGiven := in[field]
		delete(in, field)
		if !isGiven {
			given = now[field]
		}
		said, _ := given.(string)
		if isGiven && given != nil && !slices.Contains(values, said) {
			return "", messages.Errorf(messages.CodeInvalidArgument, "%s must be one of %q, or null", field, values)
		}
		if !slices.Contains(values, said) {
			return "", nil // of a page that does not say
		}
		return said, nil
	}
	values := map[string][]string{"colorScheme": {"light", "dark"}, "reducedMotion": {"reduce", "no-preference"}, "forcedColors": {"active", "none"}, "contrast": {"more", "no-preference"}}
	features := []any{}
	for _, f := range mediaFeatures {
		value, err := wanted(f.field, values[f.field]...)
		if err != nil {
			return "", err
		}
		features = append(features, map[string]any{"name": f.name, "value": value})
	}
	media, err := wanted("media", "screen", "print")
	if err != nil {
		return "", err
	}
	if media == "screen" {
		media = "" // as it is by itself
	}
	in["method"], in["params"] = "Emulation.setEmulatedMedia", map[string]any{"media": media, "features": features}
	return "", nil
}
