package offload

import (
	"math"
	"math/bits"

	"memtide/engine"
)

// maxGrains and maxGrainWork bound the sums that coarsen tells apart, a bit each,
// and what it does with them.
const (
	maxGrains    = 1 << 24
	maxGrainWork = 1 << 31
)

// coarsen raises what is too much in F_i and B_i to the next amount that whole
// values can be away: a sum of some of x_0..x_{i-1}. No set of whole transfers
// takes any longer for that, but the fluid bounds of what sets can take become
// larger, on networks whose sizes are multiples of each other. Ours; it does
// nothing where the sizes have no large common divisor.
func (m *model) coarsen() {
	var grain, all engine.Bytes
	for _, x := range m.size {
		grain, all = engine.Bytes(gcd(int64(x), int64(grain))), all+x
	}
	if all == 0 || all/grain >= maxGrains || all/grain*engine.Bytes(m.n) >= maxGrainWork {
		return
	}
	sums := make([]uint64, all/grain/64+1) // bit k: k grains can be away
	sums[0] = 1
	m.excess = 0
	for i, x := range m.size {
		m.overF[i], m.overB[i] = raise(sums, m.overF[i], grain), raise(sums, m.overB[i], grain)
		m.excess = max(m.excess, m.overF[i], m.overB[i])
		shiftOr(sums, int(x/grain))
	}
}

// raise is the least sum of at least v bytes, v if there is none.
func raise(sums []uint64, v, grain engine.Bytes) engine.Bytes {
	if v <= 0 {
		return v
	}
	k := int((v + grain - 1) / grain)
	for w := k / 64; w < len(sums); w++ {
		word := sums[w]
		if w == k/64 {
			word &= math.MaxUint64 << (k % 64)
		}
		if word != 0 {
			return engine.Bytes(64*w+bits.TrailingZeros64(word)) * grain
		}
	}
	return v
}

// shiftOr adds a value of k grains to the sums.
func shiftOr(sums []uint64, k int) {
	words, rest := k/64, k%64
	for w := len(sums) - 1; w >= words; w-- {
		v := sums[w-words] << rest
		if rest > 0 && w > words {
			v |= sums[w-words-1] >> (64 - rest)
		}
		sums[w] |= v
	}
}
