package rotorlist

import (
	"strings"
	"testing"

	"memtide/profiles/formats/formattest"
)

// FuzzRotor mutates the list of tuples: its entries, their numbers, its brackets.
func FuzzRotor(f *testing.F) {
	formattest.FuzzSamples(f, []string{"rotor.txt", "rotor-brackets.txt"},
		func(sample []byte, s *formattest.Script) []byte {
			entries := strings.SplitAfter(string(sample), ")")
			if len(entries) < 2 {
				entries = strings.SplitAfter(string(sample), "],")
			}
			for range 6 {
				if !s.More() {
					break
				}
				i := s.N(len(entries))
				cells := strings.Split(entries[i], ",")
				j := s.N(len(cells))
				switch s.N(9) {
				case 0:
					entries[i] = ""
					continue
				case 1:
					entries[i] += entries[i]
					continue
				case 2:
					k := s.N(len(entries))
					entries[i], entries[k] = entries[k], entries[i]
					continue
				case 3:
					cells[j] = s.Pick(formattest.Extremes)
				case 4:
					cells[j] = s.Pick([]string{"None", "null", "", "(", ")", "[", "]", "\n", "nan"})
				case 5:
					cells[j] += s.Pick([]string{")", "]", "((", ",,", "0", "e9", "\n\n"})
				case 6:
					cells = append(cells, cells[j])
				case 7:
					cells = append(cells[:j:j], cells[j+1:]...)
				case 8:
					cells[j] = s.Pick(formattest.OddTexts)
				}
				entries[i] = strings.Join(cells, ",")
			}
			return []byte(strings.Join(entries, ""))
		})
}
