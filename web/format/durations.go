package format

import (
	"strings"
	"time"
)

// Durations writes the durations in a text the way Duration does: sentences of
// packages that know no people's words have them as Go writes them, 1.234567ms.
func Durations(text string) string {
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		words := strings.Split(line, " ")
		for i, w := range words {
			words[i] = durationWord(w)
		}
		lines[n] = strings.Join(words, " ")
	}
	return strings.Join(lines, "\n")
}

// durationWord rewrites a word that is a duration, with what stands around it.
func durationWord(word string) string {
	core := strings.TrimLeft(word, "(")
	before := word[:len(word)-len(core)]
	core = strings.TrimRight(core, ".,;:)")
	if core == "" || core == "0" || core[0] < '0' || core[0] > '9' {
		return word
	}
	d, err := time.ParseDuration(core)
	if err != nil {
		return word
	}
	return before + Duration(d) + word[len(before)+len(core):]
}
