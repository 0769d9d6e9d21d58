package llm

// Most of what an answer plays: its work and its memory are known before it begins. What
// the allocator has to do grows with the square of what is held.
const (
	mostHeld   = 1 << 10 // blocks that one rank holds between forward and backward: as many as a model has layers
	mostBlocks = 1 << 13 // and all ranks together that differ
	mostPasses = 1 << 15 // forwards of a pipeline's step
	mostChain  = 1 << 8  // blocks of a chain that strategies look for an optimum of
	mostLive   = 1 << 53 // bytes that are there at a moment
	mostValue  = 1 << 53 // numbers of one activation
)

// widest returns the most numbers of a token that an operator writes.
func (m *Model) widest() int64 {
	n := max(m.Hidden, m.Words, m.Wide, m.Heads*m.Head)
	if e := m.MoE; e != nil {
		n = max(n, e.TopK*m.Hidden, e.TopK*e.Wide, e.Shared, e.Experts)
	}
	if d := m.Delta; d != nil {
		n = max(n, 2*d.KeyHeads*d.Key+d.ValueHeads*(d.Value+deltaChunk), d.ValueHeads*d.Key)
	}
	if s := m.SSM; s != nil {
		n = max(n, 2*s.Heads*s.Head+2*s.Groups*s.State+s.Heads)
	}
	if s := m.Scan; s != nil {
		n = max(n, s.Inner*s.State, s.Rank+2*s.State)
	}
	if l := m.MLA; l != nil {
		n = max(n, l.QRank, l.KVRank+l.Rope, m.Heads*(l.Nope+l.Rope), m.Heads*(l.Nope+l.Value))
	}
	return n
}

// checkPasses ends with a pipeline whose order is too long to be played.
func (s *Setup) checkPasses(stages int) {
	if n := int64(stages) * s.Accumulate; n > mostPasses {
		refuse("%d micro batches on %d stages of a pipeline are %d forwards; at most %d are played: lower accumulate to %d", s.Accumulate, stages, n, mostPasses, mostPasses/stages)
	}
}

// checkHeld ends with ranks that hold more blocks than are played, given those of each
// rank that differs from the others.
func (s *Setup) checkHeld(held []int64) {
	all := int64(0)
	for _, n := range held {
		if all += n; n > mostHeld {
			refuse("a rank holds %d blocks between forward and backward, its layers times the micro batches in flight; at most %d are played: lower accumulate, or take a schedule that holds fewer", n, mostHeld)
		}
	}
	if all > mostBlocks {
		refuse("the ranks hold %d blocks between forward and backward, their layers times the micro batches in flight; at most %d are played: lower pp or accumulate", all, mostBlocks)
	}
}
