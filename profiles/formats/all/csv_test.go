package all

import (
	"strings"

	"memtide/profiles"
)

func init() {
	owns["csv"] = &own{
		refused: []rejection{
			{name: "negative time on line 14", input: csvHead + strings.Repeat("a,1,2,3\n", 12) + "b,-3,2,3\n",
				want: "Line 14: forward_s is -3. Times cannot be negative."},
			{name: "NaN in a table", input: csvHead + "a,1,nan,3\n",
				want: "Line 2: backward_s is nan. Times are finite numbers of seconds."},
			{name: "infinity in a table", input: csvHead + "a,-inf,1,3\n",
				want: "Line 2: forward_s is -inf. Times are finite numbers of seconds."},
			{name: "too large", input: csvHead + "a,1,1,9007199254740993\n",
				want: "Line 2: output_bytes is 9007199254740993. Sizes above 2^53 bytes are not read."},
			{name: "too long a time", input: csvHead + "a,9007200,1,1\n",
				want: "Line 2: forward_s is 9007200. Times above 2^53 nanoseconds are not read."},
			{name: "fraction of a byte", input: csvHead + "a,1,1,0.5\n",
				want: "Line 2: output_bytes is 0.5. Sizes are whole numbers of bytes."},
			{name: "a word", input: csvHead + "a,1,fast,3\n",
				want: `Line 2: backward_s is "fast". A number of seconds is expected.`},
			{name: "a unit", input: csvHead + "a,1,2,3 MiB\n",
				want: `Line 2: output_bytes is "3 MiB". A number of bytes is expected.`},
			{name: "an empty cell", input: csvHead + "a,,2,3\n",
				want: "Line 2: forward_s is empty. A number of seconds is expected."},
			{name: "decimal commas", input: strings.ReplaceAll(csvHead, ",", ";") + "a;0,5;1;3\n",
				want: `Line 2: forward_s is "0,5". A number of seconds is expected.`},
			{name: "a missing column", input: "name,forward_s,output_bytes\na,1,2\n",
				want: "Line 1: The header lacks backward_s; it has name, forward_s, output_bytes. Columns forward_s and backward_s, in seconds, and output_bytes are required."},
			{name: "a column twice", input: "forward_s,backward_s,output_bytes,forward_s\n1,2,3,4\n",
				want: "Line 1: The column forward_s appears twice. Every column has its own name."},
			{name: "a short row", input: "# note\n" + csvHead + "\na,1,2\n",
				want: "Line 4: there are 3 cells, the header has 4. Every line has as many cells as the header."},
			{name: "a header that Match sees the beginning of",
				input: "#" + strings.Repeat("-", profiles.HeadSize-300) + "\n" + csvHead[:len(csvHead)-1] +
					strings.Repeat(",column", 20_000) + "\na,1,2,3\n",
				want: "The header line is longer than 64 KiB. At most 1000 columns are read."},
			{name: "lines of old Macs", input: strings.ReplaceAll(csvHead, "\n", "\r") + "a,1,2,3\r",
				want: "The lines end in carriage returns alone, as of old Macs. Lines end in a line feed, with or without a carriage return before it."},
			{name: "an open quote", input: csvHead + "a,1,2,3\n\"b,1,2,3\n",
				want: "Line 3: a cell cannot be read (extraneous or missing \" in quoted-field). Cells with quotes need a closing quote."},
			{name: "only a header", input: csvHead,
				want: "There are no stages. At least one stage besides the loss is needed."},
			{name: "only a loss", input: csvHead + "Loss,1,2,3\n",
				want: "There are no stages. At least one stage besides the loss is needed."},
			{name: "a bad note", input: "# batch: many\n" + csvHead + "a,1,2,3\n",
				want: `Line 1: batch is "many". A number of samples is expected.`},
			{name: "the first five of seven", input: csvHead + "a,-1,2,3\na,-2,2,3\na,-3,2,3\na,-4,2,3\na,-5,2,3\na,-6,2,3\na,-7,2,3\n",
				want: "Line 2: forward_s is -1. Times cannot be negative.\nLine 3: forward_s is -2. Times cannot be negative.\n" +
					"Line 4: forward_s is -3. Times cannot be negative.\nLine 5: forward_s is -4. Times cannot be negative.\n" +
					"Line 6: forward_s is -5. Times cannot be negative.\nAnd 2 more errors."},
			{name: "seven times the same", input: csvHead + strings.Repeat("a,-1,2,3\n", 7),
				want: "Line 2 and 6 more: forward_s is -1. Times cannot be negative."},
			{name: "too long in sum", input: csvHead + strings.Repeat("a,9007199,0,1\n", 600),
				want: "The profile cannot be used: the times add up to 171 years, the longest is the forward of stage 1 (a) with 104 days; at most 104 days are supported. The sizes and times of one training step are expected."},
		},
		long: func(n int) string {
			return csvHead + strings.Repeat("a,1,2,65536\n", n)
		},
		bombs: func() []bomb {
			return []bomb{
				{name: "10 million columns", content: content(csvHead, strings.Repeat(",", 20<<20), "\n"),
					want: "Line 2: a row has more than 1000 cells"},
				{name: "10 million columns in the header",
					content: content("#"+strings.Repeat("-", profiles.HeadSize-300)+"\n", csvHead[:len(csvHead)-1],
						strings.Repeat(",x", 10<<20), "\n"), want: "The header line is longer than 64 KiB"},
				{name: "a cell of 50 MB", content: content(csvHead, strings.Repeat("x", 50<<20), ",1,2,3\n"),
					want: "Line 2: a row is longer than 64 KiB"},
				{name: "a quote that is not closed",
					content: content(csvHead, `"`, strings.Repeat("a,1,2,3\n", 8<<20)),
					want:    "Line 2: a row is longer than 64 KiB; its last quote is not closed"},
				{name: "a name of 2 KB", content: content(csvHead, strings.Repeat("x", 2000), ",1,2,3\n"),
					want: "Line 2: a name is 2000 bytes long. At most 1000 bytes are read."},
				{name: "a million stages", content: content(csvHead, strings.Repeat("a,1,2,3\n", 1<<20)),
					want: "There are more than 19999 stages"},
				{name: "a million comments", content: content(strings.Repeat("#a:b\n", 1000), csvHead,
					strings.Repeat("#a:b\n", 1<<20)), want: "There are no stages"},
				{name: "a number of 60 KB", content: content(csvHead, "a,", strings.Repeat("1", 60_000), ",2,3\n"),
					want: "A number is at most 1000 characters long; this one has 60000."},
			}
		},
		samples: []string{"stages.csv", "semicolons.csv", "pasted.tsv"},
		mutate:  mutateCsv,
	}
}

const csvHead = "name,forward_s,backward_s,output_bytes\n"

// mutateCsv mutates samples.
func mutateCsv(sample []byte, s *script) []byte {
	names := []string{"name", "kind", "forward_s", "backward_s", "output_bytes", "saved_bytes", "# batch: 3",
		"# weights: 1e9", "#", "loss", "1,5"}

	return mutateCells(sample, s, s.pick([]string{",", ";", "\t", ": "}), names)
}
