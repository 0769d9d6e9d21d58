package ask

import (
	_ "embed" // docs
	"strings"
)

// docs are the help texts of flags, one option per line, with the name of the flag's value in angle brackets.
// They are not part of Options because the page, which has no flags, is built without them.
//
//go:embed docs.txt
var docs string

// Doc returns the help text of an option's flag, with back quotes around the name of its value.
func Doc(option string) string {
	for line := range strings.Lines(docs) {
		if doc, ok := strings.CutPrefix(line, option+" "); ok {
			return strings.NewReplacer("<", "`", ">", "`").Replace(strings.TrimSpace(doc))
		}
	}
	return ""
}
