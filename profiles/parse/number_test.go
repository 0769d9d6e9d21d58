package parse

import (
	"testing"
)

// TestReadNumber checks that decimal text becomes integers without going through floating point, rounded up.
func TestReadNumber(t *testing.T) {
	for _, c := range []struct {
		q    Quantity
		text string
		want int64 // -1 means refused
	}{
		{Seconds, "0", 0},
		{Seconds, "-0", 0},
		{Seconds, "-0.000e5", 0},
		{Seconds, "1", 1e9},
		{Seconds, "+1.5", 1.5e9},
		{Seconds, " 2 ", 2e9},
		{Seconds, "0.002878", 2878000}, // ceil of the float64 times 1e9 would be 2878001
		{Seconds, "2.878e-3", 2878000},
		{Seconds, "2878E-6", 2878000},
		{Seconds, ".5", 5e8},
		{Seconds, "5.", 5e9},
		{Seconds, "0.0000000001", 1},
		{Seconds, "1e-99999", 1},
		{Seconds, "0.1234567890000000000000000001", 123456790}, // rounded up to a whole nanosecond
		{Seconds, "9007199.254740992", 1 << 53},
		{Seconds, "9007199.254740993", -1},
		{Seconds, "1e400", -1},
		{Seconds, "1e99999999999", -1},
		{Milliseconds, "635.902", 635902000},
		{ByteCount, "205520896.000", 205520896},
		{ByteCount, "1e3", 1000},
		{ByteCount, "12.5e1", 125},
		{ByteCount, "0.5", -1},
		{ByteCount, "1000000000000000000000000000000e-20", 1e10},
		{ByteCount, "", -1},
		{ByteCount, ".", -1},
		{ByteCount, "-", -1},
		{ByteCount, "1e", -1},
		{ByteCount, "1 000", -1},
		{ByteCount, "0x10", -1},
		{ByteCount, "1_000", -1},
		{ByteCount, "nan", -1},
		{ByteCount, "+Infinity", -1},
		{ByteCount, "-1", -1},
	} {
		got, e := c.q.Read("x", c.text)
		if e != nil {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s %q = %d, want %d (%v)", c.q.Plural, c.text, got, c.want, e)
		}
	}
}

// TestReadAllocatesNothing checks that reading a whole number does not allocate, since files hold millions of them.
func TestReadAllocatesNothing(t *testing.T) {
	for _, text := range []string{"0", "123456789"} {
		if n := testing.AllocsPerRun(100, func() { _, _ = ByteCount.Read("size", text) }); n > 0 {
			t.Errorf("reading %s: %v allocations; want none", text, n)
		}
	}
}
