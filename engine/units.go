package engine

import (
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

// NoLimit is the budget of a device whose memory does not run out.
const NoLimit = Bytes(math.MaxInt64)

// The range of numbers that every method understands: what Validate of chains,
// graphs and problems accepts. It leaves room for the sums of the methods: a stage
// that runs again, a value that travels at every use. A single number is bounded by
// the sum that it is part of. A budget may be anything up to NoLimit.
const (
	// MaxBytes bounds the sum of all sizes of a step: resident memory, values, and
	// the temporaries of all operations (64 PiB).
	MaxBytes Bytes = 1 << 56
	// MaxTime bounds the sum of the times of all operations (104 days).
	MaxTime time.Duration = 1 << 53
	// MaxRate bounds either direction of the link, in bytes per second (9 PB/s).
	MaxRate Rate = 1 << 53
)

// maxUses bounds the sizes of what operations read and write, each time that they
// do: what could travel if everything left between two uses. Chains stay below
// four times their sizes.
const maxUses = 8 * MaxBytes

// longest is what no step may come to with all its transfers: 73 years, a quarter
// of what a Duration holds.
const longest = float64(1 << 61)

// Int64 converts to an integer, towards zero. Out of range it is the nearest
// integer, and 0 for what is not a number: Go leaves that to the machine, and
// amd64 and WebAssembly differ.
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

// Text writes an amount for people, to four digits from 1 MiB on.
func (b Bytes) Text() string {
	if -MiB < b && b < MiB {
		return strconv.FormatInt(int64(b), 10) + " bytes"
	}
	return binary(float64(b))
}

// exact writes an amount for people who have to type it again.
func (b Bytes) exact() string {
	if text := b.Text(); !strings.HasSuffix(text, " bytes") {
		return fmt.Sprintf("%s (%d bytes)", text, b)
	}
	return b.Text()
}

// binary writes an amount of at least 1 MiB for people.
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

// Time returns how long n bytes take at rate r, rounded up to a nanosecond so
// that a claim never flatters. It saturates at the largest duration; a transfer
// of no bytes takes no time, whatever the rate.
func (r Rate) Time(n Bytes) time.Duration {
	if n <= 0 {
		return 0
	}
	if r <= 0 {
		return math.MaxInt64
	}
	return time.Duration(MulDivUp(int64(n), int64(time.Second), int64(r)))
}

// Moved returns how many whole bytes have passed after d at rate r, rounded
// down: a byte counts once all of it has arrived.
func (r Rate) Moved(d time.Duration) Bytes {
	if d <= 0 || r <= 0 {
		return 0
	}
	return Bytes(MulDiv(int64(d), int64(r), int64(time.Second)))
}

// Text writes a bandwidth for people, to four digits.
func (r Rate) Text() string {
	units := [...]string{"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"}
	v, k := float64(r), 0
	for ; math.Abs(v) >= 1000 && k < len(units)-1; k++ {
		v /= 1000
	}
	return fmt.Sprintf("%.4g %s", v, units[k])
}

// MulDiv is a*b/c, rounded down, of numbers that are not negative; the largest number
// where it is beyond that.
func MulDiv(a, b, c int64) int64 {
	q, _ := mulDiv(a, b, c)
	return q
}

// MulDivUp is the same, rounded up.
func MulDivUp(a, b, c int64) int64 {
	q, rest := mulDiv(a, b, c)
	if rest > 0 {
		q++
	}
	return q
}

// mulDiv is a*b/c, rounded down, and the rest; none where the largest number is reached.
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

// GCD is the greatest common divisor of two numbers that are not negative; 0 of two zeros.
func GCD[N int64 | uint64 | Bytes](a, b N) N {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
