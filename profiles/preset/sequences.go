package preset

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles"
)

const shriram2019 = "https://doi.org/10.1109/IPDPS.2019.00030" // Shriram et al., vDNN++

// Two sequences of requests for memory of Shriram, Garg and Kulkarni (2019).
// Neither is a network: they show what an order of requests does to a pool.
func sequencePresets() []*Preset {
	return []*Preset{
		sequence("fragmented", "Fragmentation: 12 live, 13 needed",
			"Requests that never hold more than 12 MiB and that no allocator places in 12 MiB.",
			"+11:3 +12:3 +13:3 +14:3 -11 +22:1 +23:1 +24:1 -12 -22 +33:2 +34:2 -13 -23 -33 +44:6 -14 -24 -34 -44",
			"The sequence a_ij, d_j of Shriram et al. (2019), section III-B, in thirds of their unit: sizes 3, 1, 2 and 6. Request ij comes in block i and goes at the end of block j; before each end exactly 12 MiB are held.",
			"No placement fits into 12 MiB, found by trying all; 13 MiB are enough. Best fit, and its search for a pool, end at 16 MiB."),
		sequence("larger-pool", "A larger pool fails: 9 serve, 11 do not",
			"Requests that best fit serves in a pool of 9 MiB, but not in 10 to 13.",
			"+1:5 +2:2 +3:1 -2 +4:1 -1 -3 +5:8",
			"The sequence A1(5) A2(2) A3(1) D2 A4(1) D1 D3 A5(8) of Shriram et al. (2019), section IV-B.",
			"Best fit serves it in 9 MiB, which is the most that is held, fails in 10, 11, 12 and 13, and serves it in 14. A search that starts at 11 reports 14."),
	}
}

// sequence returns a preset of requests, written as "+name:size" in units and "-name".
func sequence(id, title, doc, text string, notes ...string) *Preset {
	p := handMade(id, title, doc, shriram2019, nil, append(notes, "Made by hand: one unit of memory is 1 MiB.")...)
	p.memory = func() *profiles.Memory { return &profiles.Memory{Requests: requests(text)} }
	return p
}

// requests reads what sequence describes; a mistake in it is one of this program.
func requests(text string) *alloc.Requests {
	var list []alloc.Entry
	for word := range strings.FieldsSeq(text) {
		e := alloc.Entry{Name: word[1:], Free: word[0] == '-'}
		if !e.Free {
			name, size, _ := strings.Cut(e.Name, ":")
			e.Name, e.Bytes = name, engine.Bytes(size[0]-'0')*unitSize
		}
		list = append(list, e)
	}
	r, err := alloc.FromEvents(list)
	if err != nil {
		panic(fmt.Sprintf("preset: %q: %v", text, err))
	}
	return r
}
