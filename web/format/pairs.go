package format

import (
	"strings"
	"time"

	"memtide/engine"
)

// Between writes a range, with the unit once where it is the same: "8 to 16 GiB".
func Between(from, to engine.Bytes) string { return join(from, to, " to ") }

// Range writes a range of sizes; one size if it is none.
func Range(low, high engine.Bytes) string {
	if Bytes(low) == Bytes(high) {
		return Bytes(high)
	}
	return Between(low, high)
}

func join(a, b engine.Bytes, word string) string {
	x, y := Bytes(a), Bytes(b)
	if n, unit, ok := strings.Cut(x, " "); ok && strings.HasSuffix(y, " "+unit) {
		x = n
	}
	return x + word + y
}

// Rates writes the rates of a link, both directions where they differ.
func Rates(toDev, toHost engine.Rate) string {
	if toHost != toDev {
		return Rate(toDev) + " in, " + Rate(toHost) + " out"
	}
	return Rate(toDev)
}

// Longer is by what share a time is longer than another one, as Percent takes it.
func Longer(d, reference time.Duration) float64 { return float64(d)/float64(reference) - 1 }
