package graphs

import "math/bits"

// random is a generator (xorshift64) whose numbers are the same on every machine.
type random uint64

func newRandom(seed uint64) random { return random(seed*0x9E3779B97F4A7C15 + 88172645463325252 | 1) }

func (r *random) next() uint64 {
	x := uint64(*r)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*r = random(x)
	return x
}

// below is a number from 0 to n-1.
func (r *random) below(n int32) int32 {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int32(hi)
}

// one is true once in n times.
func (r *random) one(n int32) bool { return r.below(n) == 0 }

// near is a number from 0 to n-1 that is mostly small: the distribution of a power of
// a uniform one.
func (r *random) near(n int32, power int) int32 {
	const full = 1 << 20
	x := uint64(full)
	u := r.next() >> 44
	for range power {
		x = x * u / full
	}
	return int32(x * uint64(n) / full)
}

// exponential is one of 1024 numbers with the exponential distribution.
func (r *random) exponential() float64 { return exponentials[r.next()>>54] }

var exponentials = func() (list [1024]float64) {
	for i := range list {
		list[i] = minusLog(uint64(2*i+1) << 53)
	}
	return list
}()

// minusLog is -ln(u/2^64). Every step is rounded by itself, so that it is the same on
// machines that fuse products and sums.
func minusLog(u uint64) float64 {
	const ln2 = 0.6931471805599453
	zeros := bits.LeadingZeros64(u)
	x := float64(u<<zeros>>11) / (1 << 52) // from 1 to 2
	z := (x - 1) / (x + 1)
	square := float64(z * z)
	sum, power := 0.0, z
	for k := 1; k <= 15; k += 2 {
		sum += float64(2 * power / float64(k)) // ln x = 2 artanh z
		power = float64(power * square)
	}
	return float64(float64(zeros+1)*ln2) - sum
}
