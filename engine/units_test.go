package engine

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// TestRateAgainstBigIntegers compares Time and Moved with the same arithmetic in big integers. Times round up and
// bytes round down, exactly, even where products overflow 64 bits.
func TestRateAgainstBigIntegers(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		rate := Rate(1 + r.Int64N(1<<r.IntN(41)))
		n := Bytes(r.Int64N(1 << (1 + r.IntN(61))))
		num := new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(int64(time.Second)))
		want := new(big.Int).Div(num.Add(num, big.NewInt(int64(rate)-1)), big.NewInt(int64(rate)))
		if !want.IsInt64() {
			want = big.NewInt(math.MaxInt64)
		}
		if got := rate.Time(n); int64(got) != want.Int64() {
			t.Fatalf("seed %d: %d bytes at %d/s: got %d ns, want %v", seed, n, rate, got, want)
		}
		d := time.Duration(r.Int64N(1 << (1 + r.IntN(61))))
		moved := new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(int64(rate)))
		moved.Div(moved, big.NewInt(int64(time.Second)))
		if !moved.IsInt64() {
			moved = big.NewInt(math.MaxInt64)
		}
		if got := rate.Moved(d); int64(got) != moved.Int64() {
			t.Fatalf("seed %d: %v at %d/s: got %d bytes, want %v", seed, d, rate, got, moved)
		}
	}
}

// A transfer is over when all of it has moved, and not a nanosecond earlier.
func TestTimeAndMovedAgree(t *testing.T) {
	for _, rate := range []Rate{1, 3, 7, 999_999_999, 1_000_000_000, 12_500_000_000} {
		for _, n := range []Bytes{1, 2, 1000, MiB, 3*GiB + 1} {
			d := rate.Time(n)
			if rate.Moved(d) < n || rate.Moved(d-1) >= n {
				t.Errorf("%d bytes at %d/s take %d ns, in which %d move, and %d in one less", n, rate, d,
					rate.Moved(d), rate.Moved(d-1))
			}
		}
	}
	if got := Rate(0).Time(1); got != math.MaxInt64 {
		t.Errorf("without a link a byte takes %v, want for ever", got)
	}
	if got := Rate(0).Time(0); got != 0 {
		t.Errorf("without a link no bytes take %v, want no time", got)
	}
}
