package all

import (
	"strings"
)

func init() {
	owns["rotor"] = &own{
		refused: []rejection{
			{name: "no loss entry", input: "[(1, 2, 3, 3, 0, 0), (1, 2, 3, 3, 0, 0)]",
				want: "Line 1: uF of entry 1 is 1. The last entry is the loss, whose uF and tmpF are None.\n" +
					"Line 1: tmpF of entry 1 is 0. The last entry is the loss, whose uF and tmpF are None."},
			{name: "a negative in a list", input: "[(1, 2, 3, 3, 0, 0),\n(1, -2, 3, 3, 0, 0),\n(None, 0, 3, 3, None, 0)]",
				want: "Line 2: uB of entry 1 is -2. Times cannot be negative."},
			{name: "a short tuple", input: "[(1, 2, 3), (None, 0, 3, 3, None, 0)]",
				want: "Line 1: entry 0 has 3 numbers. An entry is (uF, uB, x, xbar, tmpF, tmpB)."},
			{name: "half a list", input: "[(1, 2, 3, 3, 0, 0), (1, 2",
				want: "Line 1: the list ends early. A list of entries (uF, uB, x, xbar, tmpF, tmpB) is expected."},
			{name: "a name in a list", input: "[(1, 2, \"x\", 3, 0, 0)]",
				want: `Line 1: there is "\"" where none can be. A list of entries (uF, uB, x, xbar, tmpF, tmpB) is expected.`},
		},
		long: func(n int) string {
			return "[" + strings.Repeat("(1, 2, 65536, 65536, 0, 0), ", n) + "(None, 0, 65536, 65536, None, 0)]"
		},
		bombs: func() []bomb {
			return []bomb{
				{name: "a number of 50 MB", content: content("[(1", strings.Repeat("0", 50<<20),
					", 2, 3, 3, 0, 0)]"), want: "a word of 52428801 characters"},
				{name: "10 million entries", content: content("[", strings.Repeat("(1,1,1,1,1,1),", 3<<20), "]"),
					want: "There are more than 19999 stages"},
				{name: "brackets", content: content("[(1,", strings.Repeat("(", 50<<20)),
					want: `"(" where none can be`},
			}
		},
		samples: []string{"rotor.txt", "rotor-brackets.txt"},
		mutate:  mutateRotorlist,
	}
}

// mutateRotorlist mutates samples.
func mutateRotorlist(sample []byte, s *script) []byte {

	entries := strings.SplitAfter(string(sample), ")")
	if len(entries) < 2 {
		entries = strings.SplitAfter(string(sample), "],")
	}
	for range 6 {
		if !s.more() {
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
}
