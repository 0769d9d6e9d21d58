package link

import (
	"strings"

	"memtide/web/choice"
)

// Of returns the fragment of an address whose query and fragment are given as a
// browser gives them, "?..." and "#...". Some tools cut fragments off, so a
// query is understood as well: the fragment wins, and keys of a query that are
// none of a link's, such as those that count visitors, are left out.
func Of(query, fragment string) string {
	if fragment = strings.TrimPrefix(fragment, "#"); fragment != "" {
		return fragment
	}
	var out []string
	for pair := range strings.SplitSeq(strings.TrimPrefix(query, "?"), "&") {
		key, _, _ := strings.Cut(pair, "=")
		if isKey(strings.ToLower(key)) {
			out = append(out, strings.ReplaceAll(pair, "+", "%20"))
		}
	}
	return strings.Join(out, "&")
}

// isKey reports whether a key is one of a link's.
func isKey(key string) bool {
	switch key {
	case "v", keySum, "d":
		return true
	}
	return strings.HasPrefix(key, "b.") || new(Link).table().Of(key) != nil
}

// About says what a key of how the choice is looked at is about; 0 for other keys.
func About(key string) choice.Scope {
	if f := new(Look).fields().Of(key); f != nil {
		return f.For
	}
	return 0
}
