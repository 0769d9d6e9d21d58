package link

import (
	"strings"

	"memtide/profiles"
)

// pair is a key and its value: key in lower case, value without escapes, and both
// as they came, but clean: they are shown and printed.
type pair struct{ key, value, raw string }

// pairsOf splits a fragment.
func pairsOf(fragment string) (out []pair) {
	for raw := range strings.SplitSeq(fragment, "&") {
		if raw == "" {
			continue
		}
		key, value, _ := strings.Cut(raw, "=")
		if plain, ok := unescapeValue(value); ok {
			value = plain // otherwise the % stands for itself, as in m=60%
		}
		out = append(out, pair{profiles.CleanText(strings.ToLower(key)), profiles.CleanText(value),
			profiles.CleanText(raw)})
	}
	return out
}
