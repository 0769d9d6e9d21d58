package native

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"memtide/profiles/parse"
)

// TestSecondsRoundTrip checks that every duration is written such that it is read back unchanged, and that it is
// also read from the float64 notation of other programs.
func TestSecondsRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		d := time.Duration(rng.Int64N(1 << (1 + rng.IntN(53))))
		text := seconds(d).String()
		if got, e := parse.Seconds.Read("x", text); e != nil || time.Duration(got) != d {
			t.Fatalf("%d ns is written %s and read as %d (%v)", d, text, got, e)
		}
		// The shortest notation of a duration below 2^53 ns as a float64 is read as that duration.
		short := strconv.FormatFloat(float64(d)/1e9, 'g', -1, 64)
		if got, e := parse.Seconds.Read("x", short); d < 1<<50 && (e != nil || time.Duration(got) != d) {
			t.Fatalf("%d ns is printed %s by others and read as %d (%v)", d, short, got, e)
		}
	}
}
