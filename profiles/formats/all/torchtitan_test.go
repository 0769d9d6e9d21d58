package all

import (
	"os"
	"strconv"
	"strings"
)

func init() {
	data, err := os.ReadFile("../torchtitan/testdata/llama.log")
	if err != nil {
		panic(err)
	}
	text := string(data)
	with := func(old, new string) string { return strings.Replace(text, old, new, 1) }
	owns["torchtitan"] = &own{
		refused: []rejection{
			{name: "another size", input: with("4.00 MiB  bfloat16   SAVE*", "5.00 MiB  bfloat16   SAVE*"),
				want: "Line 6: [1, 2048, 1024] of bfloat16 are said to take 5.00 MiB. Shape and type give the size."},
			{name: "symbolic", input: with("  4.00 MiB  bfloat16   SAVE*", "  symbolic  bfloat16   SAVE*"),
				want: "Line 6: the size is symbolic. Sizes of one training step are expected: trace with fixed shapes."},
			{name: "a line is missing", input: with("  1     8.00 KiB", "  2     8.00 KiB"),
				want: `Line 7: this is "  2     8.00 KiB  float32    SAVE         [1, 2048, 1]     …". Activation 1 of its layer is expected: number, size, type, policy, shape, module, operator.`},
			{name: "cut", input: text[:strings.Index(text, "Total:")],
				want: "Line 23: 59 activations are listed, and the total is 0. A line with the total ends the list."},
			{name: "fewer than said", input: with("(5 activations", "(6 activations"),
				want: "Line 5: 6 activations are said, and 5 listed. Every activation of a layer has a line."},
			{name: "no stride", input: with("[layers 0-5] (x6", "[layers 0-6] (x6"),
				want: "Line 12: 6 layers of one pattern are 0 to 6, which does not say which. Layers follow each other, or are every second or third, below 1000."},
		},
		factor: 2,
		bombs:  func() []bomb { return torchtitanBombs(text) },
	}
}

func torchtitanBombs(text string) []bomb {
	begin := strings.Index(text, "  0 ")
	row := text[begin : strings.Index(text[begin:], "\n")+begin+1]
	return []bomb{
		{name: "400,000 activations", content: content(text[:begin],
			rows(400_000, func(i int) string { return "  " + strconv.Itoa(i) + row[3:] })),
			want: "activations are said"},
		{name: "a million layers", content: content(strings.Replace(text, "[layers 0-5] (x6",
			"[layers 0-999999] (x1000000", 1)), want: "below 1000"},
	}
}
