package state

import (
	"cmp"

	"memtide/engine"
)

// Kept returns the range of memory that PyTorch reserves when everything is kept, as it was played, and what CUDA takes
// beside it. The range is 0 if it is not known.
func (s *State) Kept() (low, high, context engine.Bytes) {
	if x := cmp.Or(s.policies, s.alone); x != nil {
		return x.Low, x.High, x.Context // of the step as it is; the first policy is that without torch.compile
	}
	return 0, 0, 0
}

// mayKeep reports whether keeping everything may fit the card as it was played, also if its peak is above a budget that
// was not chosen, which leaves room for what the allocator holds at worst.
func (s *State) mayKeep() bool {
	low, _, context := s.Kept()
	d := DeviceOf(s.Choice)
	return low > 0 && d != nil && s.Choice.Roomy() && low+context <= d.Memory
}

// Limit returns the memory of the card that a step may take, including allocator and CUDA: all of it, or the part that
// corresponds to the budget if a person chose one.
func (s *State) Limit() engine.Bytes {
	if d := DeviceOf(s.Choice); d != nil && s.Choice.Roomy() {
		return d.Memory
	}
	return s.Choice.Reserved(s.Budget())
}

// Sentence returns the optional words of the sentence. They do not change while the budget is dragged: another
// word could need another line, which would move the picture under the pointer.
func (s *State) Sentence() Sentence {
	if s.dragging {
		return s.before
	}
	_, high, context := s.Kept()
	plan := !s.Choice.KeepsAll() || s.OverBudget != nil || high > 0 && high+context > s.Limit()
	return Sentence{plan, !s.Choice.Roomy()}
}
