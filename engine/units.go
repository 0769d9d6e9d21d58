package engine

import (
	"math"
	"math/bits"
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
	hi, lo := bits.Mul64(uint64(n), uint64(time.Second))
	if hi >= uint64(r) {
		return math.MaxInt64
	}
	q, rem := bits.Div64(hi, lo, uint64(r))
	if rem > 0 {
		q++
	}
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(q)
}

// Moved returns how many whole bytes have passed after d at rate r, rounded
// down: a byte counts once all of it has arrived.
func (r Rate) Moved(d time.Duration) Bytes {
	if d <= 0 || r <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(d), uint64(r))
	if hi >= uint64(time.Second) {
		return NoLimit
	}
	q, _ := bits.Div64(hi, lo, uint64(time.Second))
	if q > math.MaxInt64 {
		return NoLimit
	}
	return Bytes(q)
}
