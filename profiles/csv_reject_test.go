package profiles

import (
	"strings"
	"testing"
)

var refused_csv = []rejection{
	{"negative time on line 14", csvHead + strings.Repeat("a,1,2,3\n", 12) + "b,-3,2,3\n",
		"Line 14: forward_s is -3. Times cannot be negative."},
	{"NaN in a table", csvHead + "a,1,nan,3\n", "Line 2: backward_s is nan. Times are finite numbers of seconds."},
	{"infinity in a table", csvHead + "a,-inf,1,3\n", "Line 2: forward_s is -inf. Times are finite numbers of seconds."},
	{"too large", csvHead + "a,1,1,9007199254740993\n", "Line 2: output_bytes is 9007199254740993. Sizes above 2^53 bytes are not read."},
	{"too long a time", csvHead + "a,9007200,1,1\n", "Line 2: forward_s is 9007200. Times above 2^53 nanoseconds are not read."},
	{"fraction of a byte", csvHead + "a,1,1,0.5\n", "Line 2: output_bytes is 0.5. Sizes are whole numbers of bytes."},
	{"a word", csvHead + "a,1,fast,3\n", `Line 2: backward_s is "fast". A number of seconds is expected.`},
	{"a unit", csvHead + "a,1,2,3 MiB\n", `Line 2: output_bytes is "3 MiB". A number of bytes is expected.`},
	{"an empty cell", csvHead + "a,,2,3\n", "Line 2: forward_s is empty. A number of seconds is expected."},
	{"decimal commas", strings.ReplaceAll(csvHead, ",", ";") + "a;0,5;1;3\n", `Line 2: forward_s is "0,5". A number of seconds is expected.`},
	{"a missing column", "name,forward_s,output_bytes\na,1,2\n",
		"Line 1: The column backward_s is missing; found are name, forward_s, output_bytes. The columns forward_s, backward_s and output_bytes are required."},
	{"a column twice", "forward_s,backward_s,output_bytes,forward_s\n1,2,3,4\n",
		"Line 1: The column forward_s stands there twice. Every column has its own name."},
	{"a short row", "# note\n" + csvHead + "\na,1,2\n", "Line 4: there are 3 cells, the header has 4. Every line has as many cells as the header."},
	{"a header that Match sees the beginning of", "#" + strings.Repeat("-", HeadSize-300) + "\n" + csvHead[:len(csvHead)-1] + strings.Repeat(",column", 20_000) + "\na,1,2,3\n",
		"The header line is longer than 64 KiB. At most 1000 columns are read."},
	{"an open quote", csvHead + "a,1,2,3\n\"b,1,2,3\n", "Line 3: a cell cannot be read (extraneous or missing \" in quoted-field). Cells with quotes need a closing quote."},
	{"only a header", csvHead, "There are no stages. At least one stage besides the loss is needed."},
	{"only a loss", csvHead + "Loss,1,2,3\n", "There are no stages. At least one stage besides the loss is needed."},
	{"a bad note", "# batch: many\n" + csvHead + "a,1,2,3\n", `Line 1: batch is "many". A number of samples is expected.`},
	{"the first five of seven", csvHead + strings.Repeat("a,-1,2,3\n", 7),
		"Line 2: forward_s is -1. Times cannot be negative.\nLine 3: forward_s is -1. Times cannot be negative.\n" +
			"Line 4: forward_s is -1. Times cannot be negative.\nLine 5: forward_s is -1. Times cannot be negative.\n" +
			"Line 6: forward_s is -1. Times cannot be negative.\nAnd 2 more errors."},
	{"too long in sum", csvHead + strings.Repeat("a,9007199,0,1\n", 600), "The profile cannot be used: the times add up to 171 years, the longest is the forward of stage 1 (a) with 104 days; at most 104 days are understood. The sizes and times of one training step are expected."},
}

// TestRejections: see formattest.Rejections.
func TestRejections_csv(t *testing.T) { runRejections(t, refused_csv) }

func TestTooManyStages_csv(t *testing.T) {
	runTooManyStages(t, func(n int) string {
		return csvHead + strings.Repeat("a,1,2,65536\n", n)
	})
}

// FuzzRefused: see formattest.FuzzContent.
func FuzzRefused_csv(f *testing.F) { fuzzContent(f, nil, refused_csv) }

const csvHead = "name,forward_s,backward_s,output_bytes\n"
