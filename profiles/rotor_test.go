package profiles

import (
	"strings"
	"testing"
)

// FuzzRotor mutates the list of tuples: its entries, their numbers, its brackets.
func FuzzRotor(f *testing.F) {
	fuzzSamples(f, []string{"rotor.txt", "rotor-brackets.txt"}, func(sample []byte, s *script) []byte {
		entries := strings.SplitAfter(string(sample), ")")
		if len(entries) < 2 {
			entries = strings.SplitAfter(string(sample), "],")
		}
		for range 6 {
			if !s.more() {
				break
			}
			i := s.n(len(entries))
			cells := strings.Split(entries[i], ",")
			j := s.n(len(cells))
			switch s.n(9) {
			case 0:
				entries[i] = ""
				continue
			case 1:
				entries[i] += entries[i]
				continue
			case 2:
				k := s.n(len(entries))
				entries[i], entries[k] = entries[k], entries[i]
				continue
			case 3:
				cells[j] = s.pick(extremes)
			case 4:
				cells[j] = s.pick([]string{"None", "null", "", "(", ")", "[", "]", "\n", "nan"})
			case 5:
				cells[j] += s.pick([]string{")", "]", "((", ",,", "0", "e9", "\n\n"})
			case 6:
				cells = append(cells, cells[j])
			case 7:
				cells = append(cells[:j:j], cells[j+1:]...)
			case 8:
				cells[j] = s.pick(oddTexts)
			}
			entries[i] = strings.Join(cells, ",")
		}
		return []byte(strings.Join(entries, ""))
	})
}
