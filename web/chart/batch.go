package chart

import (
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/state"
)

// NewBatches is the throughput over batch size, with the largest batch of each
// strategy; nil if it was not asked for.
func NewBatches(s *state.State, width, height float64) *Reply {
	a := s.Asked(proto.LargestBatch)
	if a == nil || len(a.Answers) == 0 {
		return nil
	}
	r := &Reply{Width: width, Height: height, Chosen: s.Choice.Strategy, KeepAll: a.KeepAll, YUnit: "/s", asBatches: true, From: 1, To: 2}
	for i, x := range a.Answers {
		if x.StepTime <= 0 || x.Batch <= 0 {
			continue
		}
		p := ReplyPoint{float64(x.Batch), float64(x.Batch) / x.StepTime.Seconds(), i}
		r.To, r.Top = max(r.To, p.X), max(r.Top, p.Y)
		if x.Largest {
			r.line(x.Strategy).Largest = &p
		}
		r.add(x.Strategy, p)
	}
	if n := s.Network; n != nil && n.Totals.Batch > 0 {
		r.Present, r.PresentName = float64(n.Totals.Batch), "batch "+format.Count(n.Totals.Batch)
	}
	r.frame()
	return r
}
