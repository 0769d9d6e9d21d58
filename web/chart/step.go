package chart

import (
	"slices"

	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

// ofStep lays out the orders and policies of a step that opens by itself. It returns nil until there are several, or if
// no time is known.
func ofStep(s *state.State, width, height float64) *Plot {
	r := s.Step.Shown
	if r == nil || s.Step.Failed != "" || r.Time <= 0 || len(r.Orders)+len(r.Policies) < 2 {
		return nil
	}
	p := &Plot{Width: width, Height: height, Axis: s.View.Axis, Card: true, Context: r.Context, Bound: r.Bound,
		Unit: r.Unit, Batch: int(r.Trained)}
	p.Name = "a card has " + format.Bytes(r.Memory)
	p.Device = p.unreserved(r.Memory)
	at := func(x *proto.StepChange) tradeoff.LinePoint {
		return tradeoff.LinePoint{Budget: p.unreserved(x.High + r.Context), StepTime: x.Time}
	}
	p.Now = at(&proto.StepChange{High: r.High, Time: r.Time})
	p.KeepAll = p.Now
	compiled := ask.Value(s.Choice.StepArgs, "compile")
	add := func(list []proto.StepChange, of state.ChangeList, taken int) {
		for i := range list {
			x := &list[i]
			_, policy, _ := preset.Split(x.Args)
			switch {
			case x.Time <= 0 || i == taken:
			case of == state.PolicyChanges && policy == nil && !x.Chain &&
				ask.Value(x.Args, "compile") == compiled:
				p.KeepAll = at(x)
			default:
				p.Spots = append(p.Spots, Spot{Do: state.UseChange{Index: i, Of: of}, Words: x.Words, At: at(x),
					Name: format.Capital(x.Names[0]), Needs: x.High + r.Context, Fits: x.High+r.Context <= r.Memory,
					Order: of == state.OrderChanges})
			}
		}
	}
	add(r.Orders, state.OrderChanges, r.Taken)
	add(r.Policies, state.PolicyChanges, -1)
	beaten := func(x *Spot) int { // by how many others: what needs less and is faster has its name first
		n := 0
		for i := range p.Spots {
			if y := &p.Spots[i]; y.At.Budget < x.At.Budget && y.At.StepTime <= x.At.StepTime {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(p.Spots, func(x, y Spot) int { return beaten(&x) - beaten(&y) })
	fastest, limit := p.KeepAll.StepTime, max(p.Now.Budget, p.KeepAll.Budget, p.Device)/2*3
	// with the card, if all need more
	p.From, p.To = min(p.Now.Budget, p.Device), max(p.Now.Budget, p.KeepAll.Budget)
	for i := range p.Spots { // those that need much more than the card are left out
		if x := &p.Spots[i]; x.At.Budget <= limit {
			p.From, p.To = min(p.From, x.At.Budget), max(p.To, x.At.Budget)
			fastest = min(fastest, x.At.StepTime)
		}
	}
	if fastest < p.Bound { // with other stages or passes
		p.Bound = 0
	}
	room := max(p.To-p.From, engine.MiB) / 12
	p.From, p.To = max(p.From-room, 0), p.To+room
	p.layAxis()
	return p
}
