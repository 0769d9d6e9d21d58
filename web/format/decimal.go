package format

import (
	"math/bits"
	"strconv"
	"strings"
)

// rounding says which way a decimal goes.
type rounding uint8

const (
	nearest rounding = iota
	upward
)

var pow10 = [...]uint64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// scaled is n/unit in units of 10^-places, rounded. It panics if that does not
// fit into 64 bits, which no caller's unit and places allow.
func scaled(n, unit uint64, places int, r rounding) uint64 {
	hi, lo := bits.Mul64(n, pow10[places])
	add := unit / 2
	if r == upward {
		add = unit - 1
	}
	lo, carry := bits.Add64(lo, add, 0)
	q, _ := bits.Div64(hi+carry, lo, unit)
	return q
}

// fixed writes n/unit with the given number of decimals.
func fixed(n, unit uint64, places int, r rounding) string {
	q := scaled(n, unit, places, r)
	whole := strconv.FormatUint(q/pow10[places], 10)
	if places == 0 {
		return whole
	}
	frac := strconv.FormatUint(q%pow10[places], 10)
	return whole + "." + strings.Repeat("0", places-len(frac)) + frac
}

// threeDigits writes n/unit with three significant digits (all digits before
// the point, if there are more) and without trailing zeros.
func threeDigits(n, unit uint64, r rounding) string {
	for places := 2; places > 0; places-- {
		// 999 with the point after the first or second digit.
		if scaled(n, unit, places, r) < 1000 {
			return trimZeros(fixed(n, unit, places, r))
		}
	}
	return fixed(n, unit, 0, r)
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// unit is a name for a multiple.
type unit struct {
	name string
	size uint64
}

// inUnits writes n in the largest of the units (smallest first) in which it is
// at least 1 after rounding.
func inUnits(n uint64, units []unit, r rounding) string {
	u := units[0]
	for _, next := range units[1:] {
		// Round in the smaller unit first: what would be written as 1024 MiB is 1 GiB.
		if scaled(n, u.size, 0, r)*u.size < next.size {
			break
		}
		u = next
	}
	return threeDigits(n, u.size, r) + " " + u.name
}

// magnitude is |n| without overflow.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// mulDiv returns a*b/c, rounded down, through 128 bits.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	q, _ := bits.Div64(hi, lo, c)
	return q
}
