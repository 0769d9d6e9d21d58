package serve

import (
	"fmt"
	"strings"

	"memtide/profiles"
)

// rejected returns why a file is not read: its problems, one per line, each with its remedy. For a problem
// of the whole file the remedy comes first, because what is expected may be the list of all formats.
func rejected(err error) string {
	problems := profiles.Problems(err)
	if len(problems) == 0 {
		return err.Error()
	}
	if p := problems[0]; len(problems) == 1 && p.Where() == "" {
		return p.Found + ". " + p.Remedy + " " + p.Expected
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.Error()+" "+p.Remedy)
	}
	if many, ok := err.(*profiles.FormatErrors); ok && many.More > 0 {
		lines[len(lines)-1] += fmt.Sprintf(" And %d more.", many.More)
	}
	return strings.Join(lines, "\n")
}
