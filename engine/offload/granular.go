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
	var grain, most engine.Bytes
	for i, x := range m.size {
		grain, most = max(engine.GCD(x, grain), 1), max(most, m.overF[i], m.overB[i])
	}
	if most == 0 || most/grain >= maxGrains || most/grain*engine.Bytes(m.n) >= maxGrainWork {
		return
	}
	s := sums{bits: make([]uint64, most/grain/64+1), above: math.MaxInt}
	s.bits[0] = 1
	m.excess = 0
	for i, x := range m.size {
		m.overF[i], m.overB[i] = s.raise(m.overF[i], grain), s.raise(m.overB[i], grain)
		m.excess = max(m.excess, m.overF[i], m.overB[i])
		s.add(int(x / grain))
	}
}

// sums are what whole values can be away, in grains: bit k says that k can be.
// Of more than there are bits, only the least sum is of interest.
type sums struct {
	bits  []uint64
	above int
	used  int // no word after this one has a bit
}

// raise is the least sum of at least v bytes, v if there is none.
func (s *sums) raise(v, grain engine.Bytes) engine.Bytes {
	if v <= 0 {
		return v
	}
	if k := s.from(int((v + grain - 1) / grain)); k < math.MaxInt {
		return engine.Bytes(k) * grain
	}
	return v
}

// from is the least sum of at least k, MaxInt if there is none.
func (s *sums) from(k int) int {
	for w := k / 64; w <= s.used; w++ {
		word := s.bits[w]
		if w == k/64 {
			word &= math.MaxUint64 << (k % 64)
		}
		if word != 0 {
			return 64*w + bits.TrailingZeros64(word)
		}
	}
	return s.above
}

// add adds a value of k grains to the sums.
func (s *sums) add(k int) {
	if least := s.from(max(0, 64*len(s.bits)-k)); least < math.MaxInt-k {
		s.above = min(s.above, least+k)
	}
	words, rest := k/64, k%64
	s.used = min(s.used+words+1, len(s.bits)-1)
	if words > s.used {
		return
	}
	to := s.bits[words : s.used+1]
	from := s.bits[:len(to)]
	word := from[len(from)-1]
	for w := len(to) - 1; w > 0; w-- {
		below := from[w-1]
		to[w] |= word<<rest | below>>(64-rest) // nothing of below if rest is 0
		word = below
	}
	to[0] |= word << rest
}
