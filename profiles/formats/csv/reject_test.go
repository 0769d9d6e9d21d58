package csv

import (
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

var refused = []formattest.Rejection{
	{Name: "negative time on line 14", Input: csvHead + strings.Repeat("a,1,2,3\n", 12) + "b,-3,2,3\n",
		Want: "Line 14: forward_s is -3. Times cannot be negative."},
	{Name: "NaN in a table", Input: csvHead + "a,1,nan,3\n",
		Want: "Line 2: backward_s is nan. Times are finite numbers of seconds."},
	{Name: "infinity in a table", Input: csvHead + "a,-inf,1,3\n",
		Want: "Line 2: forward_s is -inf. Times are finite numbers of seconds."},
	{Name: "too large", Input: csvHead + "a,1,1,9007199254740993\n",
		Want: "Line 2: output_bytes is 9007199254740993. Sizes above 2^53 bytes are not read."},
	{Name: "too long a time", Input: csvHead + "a,9007200,1,1\n",
		Want: "Line 2: forward_s is 9007200. Times above 2^53 nanoseconds are not read."},
	{Name: "fraction of a byte", Input: csvHead + "a,1,1,0.5\n",
		Want: "Line 2: output_bytes is 0.5. Sizes are whole numbers of bytes."},
	{Name: "a word", Input: csvHead + "a,1,fast,3\n",
		Want: `Line 2: backward_s is "fast". A number of seconds is expected.`},
	{Name: "a unit", Input: csvHead + "a,1,2,3 MiB\n",
		Want: `Line 2: output_bytes is "3 MiB". A number of bytes is expected.`},
	{Name: "an empty cell", Input: csvHead + "a,,2,3\n",
		Want: "Line 2: forward_s is empty. A number of seconds is expected."},
	{Name: "decimal commas", Input: strings.ReplaceAll(csvHead, ",", ";") + "a;0,5;1;3\n",
		Want: `Line 2: forward_s is "0,5". A number of seconds is expected.`},
	{Name: "a missing column", Input: "name,forward_s,output_bytes\na,1,2\n",
		Want: "Line 1: The column backward_s is missing; found are name, forward_s, output_bytes. The columns forward_s, backward_s and output_bytes are required."},
	{Name: "a column twice", Input: "forward_s,backward_s,output_bytes,forward_s\n1,2,3,4\n",
		Want: "Line 1: The column forward_s appears twice. Every column has its own name."},
	{Name: "a short row", Input: "# note\n" + csvHead + "\na,1,2\n",
		Want: "Line 4: there are 3 cells, the header has 4. Every line has as many cells as the header."},
	{Name: "a header that Match sees the beginning of",
		Input: "#" + strings.Repeat("-", profiles.HeadSize-300) + "\n" + csvHead[:len(csvHead)-1] +
			strings.Repeat(",column", 20_000) + "\na,1,2,3\n",
		Want: "The header line is longer than 64 KiB. At most 1000 columns are read."},
	{Name: "lines of old Macs", Input: strings.ReplaceAll(csvHead, "\n", "\r") + "a,1,2,3\r",
		Want: "The lines end in carriage returns alone, as of old Macs. Lines end in a line feed, with or without a carriage return before it."},
	{Name: "an open quote", Input: csvHead + "a,1,2,3\n\"b,1,2,3\n",
		Want: "Line 3: a cell cannot be read (extraneous or missing \" in quoted-field). Cells with quotes need a closing quote."},
	{Name: "only a header", Input: csvHead,
		Want: "There are no stages. At least one stage besides the loss is needed."},
	{Name: "only a loss", Input: csvHead + "Loss,1,2,3\n",
		Want: "There are no stages. At least one stage besides the loss is needed."},
	{Name: "a bad note", Input: "# batch: many\n" + csvHead + "a,1,2,3\n",
		Want: `Line 1: batch is "many". A number of samples is expected.`},
	{Name: "the first five of seven", Input: csvHead + strings.Repeat("a,-1,2,3\n", 7),
		Want: "Line 2: forward_s is -1. Times cannot be negative.\nLine 3: forward_s is -1. Times cannot be negative.\n" +
			"Line 4: forward_s is -1. Times cannot be negative.\nLine 5: forward_s is -1. Times cannot be negative.\n" +
			"Line 6: forward_s is -1. Times cannot be negative.\nAnd 2 more errors."},
	{Name: "too long in sum", Input: csvHead + strings.Repeat("a,9007199,0,1\n", 600),
		Want: "The profile cannot be used: the times add up to 171 years, the longest is the forward of stage 1 (a) with 104 days; at most 104 days are supported. The sizes and times of one training step are expected."},
}

// TestRejections: see formattest.Rejections.
func TestRejections(t *testing.T) { formattest.Rejections(t, refused) }

func TestTooManyStages(t *testing.T) {
	formattest.TooManyStages(t, func(n int) string {
		return csvHead + strings.Repeat("a,1,2,65536\n", n)
	})
}

// FuzzRefused: see formattest.FuzzContent.
func FuzzRefused(f *testing.F) { formattest.FuzzContent(f, nil, refused) }

const csvHead = "name,forward_s,backward_s,output_bytes\n"
