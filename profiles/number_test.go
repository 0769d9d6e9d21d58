package profiles

import (
	"testing"
)

// TestReadNumber: decimal text becomes integers without a detour through
// floating point, rounded up.
func TestReadNumber(t *testing.T) {
	for _, c := range []struct {
		q    quantity
		text string
		want int64 // -1: refused
	}{
		{seconds, "0", 0},
		{seconds, "-0", 0},
		{seconds, "-0.000e5", 0},
		{seconds, "1", 1e9},
		{seconds, "+1.5", 1.5e9},
		{seconds, " 2 ", 2e9},
		{seconds, "0.002878", 2878000}, // ceil of the float64 times 1e9 would be 2878001
		{seconds, "2.878e-3", 2878000},
		{seconds, "2878E-6", 2878000},
		{seconds, ".5", 5e8},
		{seconds, "5.", 5e9},
		{seconds, "0.0000000001", 1},
		{seconds, "1e-99999", 1},
		{seconds, "0.1234567890000000000000000001", 123456790}, // a nanosecond that has begun counts
		{seconds, "9007199.254740992", 1 << 53},
		{seconds, "9007199.254740993", -1},
		{seconds, "1e400", -1},
		{seconds, "1e99999999999", -1},
		{milliseconds, "635.902", 635902000},
		{byteCount, "205520896.000", 205520896},
		{byteCount, "1e3", 1000},
		{byteCount, "12.5e1", 125},
		{byteCount, "0.5", -1},
		{byteCount, "1000000000000000000000000000000e-20", 1e10},
		{byteCount, "", -1},
		{byteCount, ".", -1},
		{byteCount, "-", -1},
		{byteCount, "1e", -1},
		{byteCount, "1 000", -1},
		{byteCount, "0x10", -1},
		{byteCount, "1_000", -1},
		{byteCount, "nan", -1},
		{byteCount, "+Infinity", -1},
		{byteCount, "-1", -1},
	} {
		got, e := c.q.read("x", c.text)
		if e != nil {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s %q = %d, want %d (%v)", c.q.plural, c.text, got, c.want, e)
		}
	}
}
