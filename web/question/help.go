package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
)

// Methods returns the methods to try beside the chosen strategy: the other usable ones, ordered by rank for graphs or
// chains.
func Methods(chosen string, usable []*engine.Strategy, graph bool) (out []proto.Method) {
	for _, st := range slices.SortedFunc(slices.Values(usable), engine.ByRank(graph)) {
		if st.Name != chosen {
			out = append(out, proto.Method{Strategy: st.Name})
		}
	}
	return out
}

// Answer tries what could help and emits an answer for each change. It first tries single changes; if none has a
// schedule, it tries larger ones and then pairs. It returns an error if the question is wrong, and nil soon after ctx
// was cancelled.
func (w *Work) Answer(ctx context.Context) error {
	changes, err := w.levers()
	if err != nil {
		return err
	}
	for _, c := range whatif.Changes(w.Problem, w.Method, w.Methods) {
		changes = append(changes, change{Change: c})
	}
	w.Total = len(changes)
	fits, err := w.try(ctx, changes)
	switch {
	case err != nil || ctx.Err() != nil:
		return err
	case fits:
		return w.largerBatch(ctx)
	}
	last, err := w.lastLevers()
	if err != nil {
		return err
	}
	w.Total += len(last)
	if fits, err = w.try(ctx, last); fits || err != nil || ctx.Err() != nil {
		return err
	}
	pairs := w.pairs(append(changes, last...))
	w.Total += len(pairs)
	_, err = w.try(ctx, pairs)
	return err
}

// change is something that might help.
type change struct {
	whatif.Change

	// For another step of a language model that does the same work:
	preset string                          // reference of the changed preset
	lever  ask.Lever                       // the option that changes; may be empty
	build  func() (*engine.Problem, error) // builds Change.Problem
}

// try measures changes and emits an answer for each. It skips changes that cannot be built or that make no
// difference. fits reports whether one of them has a schedule.
func (w *Work) try(ctx context.Context, changes []change) (fits bool, err error) {
	for i := range changes {
		c := &changes[i]
		a := proto.Suggestion{Name: c.Name, Preset: c.preset}
		if c.build != nil {
			p, err := c.build()
			if err != nil || unchanged(p, w.Problem) {
				w.Total--
				continue
			}
			c.Problem = p
		}
		if d := c.Problem.Device; d != w.Problem.Device {
			a.Device = &d
		}
		err := w.measure(ctx, &a, c.Problem, c.Method)
		fits = fits || a.StepTime > 0
		if !w.emit(ctx, a, err) {
			return fits, nil
		}
	}
	return fits, nil
}

// largerBatch emits an answer about the largest batch for which everything can be kept, if that is larger than the
// present batch and everything can be kept now.
func (w *Work) largerBatch(ctx context.Context) error {
	p, batch, err := preset.Parse(w.Preset)
	keep := engine.Lookup(engine.KeepAll)
	if err != nil || keep == nil {
		return nil // the batch of a file cannot be changed
	}
	if _, err := whatif.Measure(w.Problem, whatif.Method{Strategy: keep}, nil); err != nil {
		return nil
	}
	found, err := whatif.LargestBatch(ctx,
		&whatif.BatchQuestion{Build: p.Problem, Strategy: keep, Device: w.Problem.Device,
			Transfers: w.Problem.Transfers,
			Budget:    w.Problem.Budget, Most: p.Largest(), Limit: w.Limit}, nil)
	if err != nil || found.Batch <= batch {
		return nil
	}
	w.Total++
	w.emit(ctx, proto.Suggestion{Name: fmt.Sprintf("batch of %d", found.Batch), Strategy: keep.Name,
		Budget: w.Problem.Budget,
		Preset: preset.Ref(p.ID, found.Batch), Batch: found.Batch, StepTime: found.StepTime, Peak: found.Peak}, nil)
	return nil
}

// unchanged reports whether p and q are chains with the same stages, input and resident memory.
func unchanged(p, q *engine.Problem) bool {
	if p.Chain == nil || q.Chain == nil {
		return false
	}
	a, b := p.Chain.Chain, q.Chain.Chain
	return slices.Equal(a.Stages, b.Stages) && a.Resident == b.Resident && a.Input == b.Input
}

// step returns the preset and the batch if the question is about the step of a language model; otherwise p is nil.
func (w *Work) step() (p *preset.Preset, batch int, err error) {
	p, batch, err = preset.Parse(w.Preset)
	if err != nil || p.Model() == nil {
		return nil, 0, nil
	}
	return p, batch, p.Builds()
}

// levers returns changes of the step of a language model that do the same work: the options of ask.Levers, and twice
// as many sequences of half the length.
func (w *Work) levers() (out []change, err error) {
	p, batch, err := w.step()
	if p == nil || err != nil {
		return nil, err
	}
	args := preset.StepArgs(p.Options().Step)
	for _, l := range ask.Levers {
		if !l.Trains(args) {
			out = w.lever(out, p, batch, args, l)
		}
	}
	if o := p.Options(); o.Tokens >= 2*shortest && 2*batch <= p.Largest() {
		o.Tokens, o.Batch = o.Tokens/2, 2*batch
		out = w.variant(out, p, batch, ask.Lever{Name: fmt.Sprintf("%d sequences of %s tokens", o.Batch,
			format.Count(o.Tokens))}, o)
	}
	return out, nil
}

// lastLevers returns the changes that are tried only if no other has a schedule: more cards, and training adapters,
// which is not the same training.
func (w *Work) lastLevers() (out []change, err error) {
	p, batch, err := w.step()
	if p == nil || err != nil {
		return nil, err
	}
	args := preset.StepArgs(p.Options().Step)
	cards, err := strconv.Atoi(ask.Value(args, "gpus"))
	if err != nil {
		return nil, err
	}
	for _, times := range []int{2, 4, 8} {
		more := strconv.Itoa(cards * times)
		out = w.lever(out, p, batch, args,
			ask.Lever{Name: fmt.Sprintf("%s cards instead of %d", more, cards), Option: "gpus", Value: more})
	}
	for _, l := range ask.Levers {
		if l.Trains(args) {
			if l.Option != "lora" {
				l.Name = ask.LeverOf("lora", "16").Name + ", " + l.Name
			}
			out = w.lever(out, p, batch, args, l)
		}
	}
	return out, nil
}

// MostPairs is the largest number of pairs of changes that are built when no single change has a schedule.
const MostPairs = 24

// pairs returns pairs of changes that were tried alone. It keeps a pair if the least memory that a plan of the method
// needs is below the budget and below that of each change alone. Building a pair is expensive, so pairs builds one only
// if the product of the two reductions would suffice. Early changes are paired first.
func (w *Work) pairs(tried []change) (out []change) {
	p, batch, err := w.step()
	if p == nil || err != nil {
		return nil
	}
	least := func(q *engine.Problem) float64 {
		if w.Method.Strategy.Name == engine.KeepAll {
			return float64(q.Chain.Chain.KeepAllPeak())
		}
		return float64(q.Chain.Chain.Resident.Total())
	}
	tried = slices.DeleteFunc(tried, func(c change) bool { return c.lever.Option == "" || c.Problem == nil })
	now, room, args, built := least(w.Problem), float64(w.Problem.Budget), preset.StepArgs(p.Options().Step), 0
	for sum := 1; sum < 2*len(tried); sum++ {
		for i := max(0, sum-len(tried)+1); 2*i < sum && built < MostPairs; i++ {
			a, b := &tried[i], &tried[sum-i]
			if a.lever.Option == b.lever.Option || least(a.Problem)*least(b.Problem) > now*room {
				continue
			}
			l := ask.Lever{Name: a.Name + " + " + b.Name, Option: b.lever.Option, Value: b.lever.Value}
			for _, c := range w.lever(nil, p, batch, ask.With(args, a.lever.Option, a.lever.Value), l) {
				built++
				if c.Problem, err = c.build(); err == nil &&
					least(c.Problem) < min(room, least(a.Problem), least(b.Problem)) {
					c.build = nil
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// lever adds to list the change of one option of the step, unless the step stays the same.
func (w *Work) lever(list []change, p *preset.Preset, batch int, args engine.Args, l ask.Lever) []change {
	o := p.Options()
	o.Batch = batch
	text, err := preset.StepText(ask.With(args, l.Option, l.Value))
	if err != nil { // the option is one that strategies choose
		return list
	}
	o.Step = text
	return w.variant(list, p, batch, l, o)
}

// variant adds to list the change to the options o, unless the step stays the same.
func (w *Work) variant(list []change, p *preset.Preset, batch int, l ask.Lever, o preset.Options) []change {
	v, err := p.Base().With(o)
	if err != nil || v == p && o.Batch == batch {
		return list
	}
	return append(list, change{whatif.Change{Name: l.Name, Method: w.Method}, preset.Ref(v.ID, o.Batch), l,
		func() (*engine.Problem, error) {
			q, err := v.Problem(o.Batch)
			if err != nil {
				return nil, err
			}
			q.Device, q.Transfers, q.Budget = w.Problem.Device, w.Problem.Transfers, w.Problem.Budget
			return q, nil
		}})
}

const (
	shortest  = 512  // sequences are not made shorter than this many tokens
	leastGain = 0.02 // the least gain of an answer that helps
	mostHelps = 6    // the largest number of answers that help
)

// Gain returns the gain in work per second of answer i over the present plan, as a share: 0.1 is 10 % more. It is 0
// if one of the step times is not known.
func (a *Answers) Gain(i int) float64 {
	if a.Base <= 0 || a.List[i].StepTime <= 0 {
		return 0
	}
	return float64(a.Base)/float64(a.List[i].StepTime) - 1
}

// Helps returns the indices of the answers that help, best first, and of those about the chosen strategy that do not,
// in their order. If the choice fits, an answer helps if its gain is leastGain or more; of other strategies only the
// fastest counts. If the choice does not fit, every answer whose peak is at most room helps, and adapters come last
// because they are not the same training.
func (a *Answers) Helps(unfit bool, room engine.Bytes) (best, none []int) {
	plan := false
	for _, i := range a.ByGain() {
		x := &a.List[i]
		another := x.Strategy != a.Strategy && !unfit
		switch {
		case x.Batch > 0: // not the same work
		case unfit && x.StepTime > 0 && x.Peak <= room, !unfit && a.Gain(i) >= leastGain && !(another && plan):
			best = append(best, i)
			plan = plan || another
		case x.Strategy == a.Strategy:
			none = append(none, i)
		}
	}
	if unfit {
		slices.SortStableFunc(best, func(i, j int) int { return cmp.Compare(a.adapters(i), a.adapters(j)) })
	}
	slices.Sort(none)
	return best[:min(len(best), mostHelps)], none
}

// adapters returns 1 if answer i trains adapters beside frozen weights, and 0 otherwise. It is a sort key.
func (a *Answers) adapters(i int) int {
	p, _, err := preset.Parse(a.List[i].Preset)
	if err != nil || p.Model() == nil || ask.Value(preset.StepArgs(p.Options().Step), "lora") == "0" {
		return 0
	}
	return 1
}

// ByGain returns the indices of the answers ordered by step time, with those that have no schedule last.
func (a *Answers) ByGain() []int {
	out := make([]int, len(a.List))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(i, j int) int { // 0-1 as uint64 is the largest number
		return cmp.Compare(uint64(a.List[i].StepTime-1), uint64(a.List[j].StepTime-1))
	})
	return out
}

// ChangeName returns the name of what an answer changes: for a strategy the name of its plan, for a link its rates.
func ChangeName(x *proto.Suggestion) string {
	if st := engine.Lookup(x.Strategy); st != nil && st.Title == x.Name {
		return choice.PlanName(x.Strategy)
	}
	if d := x.Device; d != nil && x.Name == "twice the bandwidth" { // a name of package whatif
		return "a link of " + format.Rates(d.ToDev, d.ToHost)
	}
	return x.Name
}
