package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Bytes is an amount of memory. Sizes are exact; 0 is a legal size.
type Bytes int64

// Binary multiples of a byte.
const (
	KiB Bytes = 1 << (10 * (iota + 1))
	MiB
	GiB
)

// NoLimit is the budget of a device with unlimited memory.
const NoLimit = Bytes(math.MaxInt64)

// The range of numbers that every method supports, which Validate of chains, graphs and problems checks. It leaves
// room for the sums that methods form: a stage that runs again, a value that travels at every use. A single number
// is bounded by the sum that it is part of. A budget may be anything up to NoLimit.
const (
	// MaxBytes bounds the sum of all sizes of a step: resident memory, values, and the temporaries of all
	// operations (64 PiB).
	MaxBytes Bytes = 1 << 56
	// MaxTime bounds the sum of the times of all operations (104 days).
	MaxTime time.Duration = 1 << 53
	// MaxRate bounds either direction of the link, in bytes per second (9 PB/s).
	MaxRate Rate = 1 << 53
)

// maxUses bounds the sum of the sizes that operations read and write, counted at each use: what could travel if
// everything were moved out between two uses. Chains stay below four times their sizes.
const maxUses = 8 * MaxBytes

// longest bounds the time of a step with all its transfers, in nanoseconds: 73 years, a quarter of the range of a
// time.Duration.
const longest = float64(1 << 61)

// Int64 converts f to an integer, rounding towards zero. It returns the nearest integer if f is out of range, and 0
// for NaN. Go leaves these cases to the machine, and amd64 and WebAssembly differ.
func Int64(f float64) int64 {
	switch {
	case f >= 1<<63:
		return math.MaxInt64
	case f < -1<<63:
		return math.MinInt64
	case f != f:
		return 0
	}
	return int64(f)
}

// Text returns b with its unit, to four digits from 1 MiB on.
func (b Bytes) Text() string {
	if -MiB < b && b < MiB {
		return strconv.FormatInt(int64(b), 10) + " bytes"
	}
	return binary(float64(b))
}

// exact returns b with its unit and the number of bytes, for people who have to type it again.
func (b Bytes) exact() string {
	if text := b.Text(); !strings.HasSuffix(text, " bytes") {
		return fmt.Sprintf("%s (%d bytes)", text, b)
	}
	return b.Text()
}

// binary returns an amount of at least 1 MiB with its unit.
func binary(b float64) string {
	units := [...]string{"MiB", "GiB", "TiB", "PiB", "EiB"}
	k := 0
	for b /= float64(MiB); math.Abs(b) >= 1024 && k < len(units)-1; k++ {
		b /= 1024
	}
	return fmt.Sprintf("%.4g %s", b, units[k])
}

// Rate is a bandwidth in bytes per second. A rate of 0 means that the link does not exist.
type Rate int64

// Time returns how long n bytes take at rate r, rounded up to a nanosecond so that no claim is too good. It
// saturates at the largest duration. A transfer of no bytes takes no time, whatever the rate.
func (r Rate) Time(n Bytes) time.Duration {
	if n <= 0 {
		return 0
	}
	if r <= 0 {
		return math.MaxInt64
	}
	return time.Duration(MulDivUp(int64(n), int64(time.Second), int64(r)))
}

// Moved returns how many whole bytes have passed after d at rate r, rounded down: a byte counts once all of it has
// arrived.
func (r Rate) Moved(d time.Duration) Bytes {
	if d <= 0 || r <= 0 {
		return 0
	}
	return Bytes(MulDiv(int64(d), int64(r), int64(time.Second)))
}

// Text returns the bandwidth with its unit, to four digits.
func (r Rate) Text() string {
	units := [...]string{"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"}
	v, k := float64(r), 0
	for ; math.Abs(v) >= 1000 && k < len(units)-1; k++ {
		v /= 1000
	}
	return fmt.Sprintf("%.4g %s", v, units[k])
}

// MulDiv returns a*b/c, rounded down. The arguments must not be negative. It saturates at math.MaxInt64.
func MulDiv(a, b, c int64) int64 {
	q, _ := mulDiv(a, b, c)
	return q
}

// MulDivUp returns a*b/c, rounded up. It is otherwise like MulDiv.
func MulDivUp(a, b, c int64) int64 {
	q, rest := mulDiv(a, b, c)
	if rest > 0 {
		q++
	}
	return q
}

// mulDiv returns a*b/c, rounded down, and the remainder, which is 0 if the quotient saturates.
func mulDiv(a, b, c int64) (q int64, rest uint64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return math.MaxInt64, 0
	}
	all, rest := bits.Div64(hi, lo, uint64(c))
	if all >= math.MaxInt64 {
		return math.MaxInt64, 0
	}
	return int64(all), rest
}

// CompareRatios compares a/b with c/d, exactly.
func CompareRatios(a, b, c, d uint64) int {
	hi1, lo1 := bits.Mul64(a, d)
	hi2, lo2 := bits.Mul64(c, b)
	return cmp.Or(cmp.Compare(hi1, hi2), cmp.Compare(lo1, lo2))
}

// GCD returns the greatest common divisor of two numbers that are not negative, and 0 for two zeros.
func GCD[N int64 | uint64 | Bytes](a, b N) N {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
