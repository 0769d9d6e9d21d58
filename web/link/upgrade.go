package link

import (
	"slices"
	"strconv"
	"strings"

	"memtide/profiles"
)

// pair is a key and its value: key in lower case, value without escapes, and both
// as they came, but clean: they are shown and printed.
type pair struct{ key, value, raw string }

// An upgrader turns the pairs of a link of one version into those of the next.
// What a key of a version means never changes; what shall mean something else
// raises Version, and a function is added here that says it in the new words.
// testdata/links has links of every version, which have to open for ever.
type upgrader func([]pair) []pair

// upgraders[i] upgrades from version i+1.
var upgraders = []upgrader{}

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
		out = append(out, pair{profiles.CleanText(strings.ToLower(key)), profiles.CleanText(value), profiles.CleanText(raw)})
	}
	return out
}

// upgrade brings the pairs of a link up to the version after all upgraders. A
// link that does not say its version is of version 1.
func upgrade(pairs []pair, upgraders []upgrader) []pair {
	i := slices.IndexFunc(pairs, func(p pair) bool { return p.key == "v" })
	from := 1
	if i >= 0 {
		if n, err := strconv.Atoi(pairs[i].value); err == nil && n >= 1 {
			from = n
		}
	}
	for n := from - 1; n < len(upgraders); n++ {
		pairs = upgraders[n](pairs)
	}
	return pairs
}
