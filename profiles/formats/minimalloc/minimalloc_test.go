package minimalloc

import (
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/csv"
	"memtide/profiles/formats/formattest"
)

// TestMiniMallocRejections checks the errors for invalid tables, with their lines.
func TestMiniMallocRejections(t *testing.T) {
	const head = "id,lower,upper,size\n"
	for _, c := range []struct{ input, want string }{
		{head, "There are no buffers. At least one buffer is expected."},
		{head + "a,0,1\n", "Line 2: there are 3 cells, the header has 4. Every line has as many cells as the header."},
		{head + "a,0,1,4\n\na,0,1,4\n",
			`Line 4: the id "a" appears again, after line 2. Every buffer has an id of its own.`},
		{head + "a,5,5,4\n", "Line 2: upper is 5. A buffer lives from lower to before upper, which is above lower (5)."},
		{head + "a,0,1,-4\n", "Line 2: size is -4. Sizes cannot be negative."},
		{head + "a,0.5,1,4\n", "Line 2: lower is 0.5. Moments are whole numbers of steps of the clock."},
		{head + "a,0,soon,4\n", `Line 2: upper is "soon". A number of steps of the clock is expected.`},
		{head + "\"a,0,1,4\n", "Line 2: a cell cannot be read (extraneous or missing \" in quoted-field). Cells with quotes need a closing quote."},
		{"lower,upper,size,size\n0,1,4,4\n", "Line 1: The column size appears twice. Every column has its own name."},
		{head + strings.Repeat("a,0,1,9007199254740992\n", 2),
			`Line 3: the id "a" appears again, after line 2. Every buffer has an id of its own.`},
		{"size,id,upper,lower,offset\n9007199254740991,x,2,0,4\n",
			"The end of the addresses comes to 9007199254740995 bytes. Sizes above 2^53 bytes are not read."},
		{"lower,upper,size\n" + strings.Repeat("0,1,9007199254740992\n", 600),
			"The sizes add up to 5.4e+18 bytes. The sizes of one training step are expected."},
	} {
		_, err := profiles.Decode("x", profiles.Bytes(c.input), nil)
		if err == nil || err.Error() != c.want {
			t.Errorf("Decode(%.60q)\ngot  %v\nwant %s", c.input, err, c.want)
		}
		formattest.CheckProblems(t, err)
	}
}

// TestMiniMallocMatch checks that the header decides, and that a table of layers is not claimed.
func TestMiniMallocMatch(t *testing.T) {
	for _, c := range []struct {
		head string
		want bool
	}{
		{"id,lower,upper,size", true},
		{"\r\n Size , \"upper\",LOWER\n1,2,3", true},
		{"id,lower,upper", false},
		{"id;lower;upper;size", false},
		{"lower,upper,size,forward_s\n", false},
		{`["lower,upper,size"]`, false},
		{`{"a":1,lower,upper,size}`, false},
		{"", false},
	} {
		if got := miniColumns([]byte(c.head)) != nil; got != c.want {
			t.Errorf("%q: %v, want %v", c.head, got, c.want)
		}
		if c.want && csv.Claims([]byte(c.head)) {
			t.Errorf("%q is a table of layers, too", c.head)
		}
	}
}
