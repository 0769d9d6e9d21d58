package all

import (
	"strings"
)

func init() {
	owns["snapshot"] = &own{
		bombs: func() []bomb {
			return []bomb{
				{name: "16 million dictionaries", content: content("\x80\x04", strings.Repeat("}", 16<<20)),
					want: "more than 1048576 values wait"},
				{name: "a list of 16 million dictionaries",
					content: content("\x80\x04](", strings.Repeat(strings.Repeat("}", 1000)+"e(", 16_000)),
					want:    "would take more than 94 MiB of memory to read"},
				{name: "a memo of 40 million", content: content("\x80\x04]", strings.Repeat("\x94", 40<<20), "."),
					want: "would take more than"},
				{name: "nested lists", content: content("\x80\x04", strings.Repeat("](", 1<<20)),
					want: "nested deeper than 100"},
				{name: "a long integer beyond the file", content: content("\x80\x04\x8a\xff\x01."),
					want: "ends early"},
				{name: "a text beyond the file", content: content("\x80\x04X\xff\xff\xff\xff."), want: "ends early"},
				{name: "LONG4", content: content("\x80\x04\x8b\xff\xff\xff\x7f."),
					want: "LONG4, which memory snapshots do not use"},
			}
		},
	}
}
