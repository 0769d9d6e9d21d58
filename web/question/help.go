package question

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

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
// schedule, it tries larger ones and then pairs, and with these, in place of keeping everything, the best of the other
// methods. It returns an error if the question is wrong, and nil soon after ctx was cancelled.
func (w *Work) Answer(ctx context.Context) error {
	changes, err := w.levers()
	if err != nil {
		return err
	}
	for _, c := range whatif.Changes(w.Problem, w.Method, w.Methods) {
		changes = append(changes, change{Change: c})
	}
	w.Total = len(changes)
	switch fits := w.try(ctx, changes); {
	case ctx.Err() != nil:
		return nil
	case fits:
		w.largerBatch(ctx)
		return nil
	}
	if w.Method.Strategy.Name == engine.KeepAll && len(w.Methods) > 0 { // these may be planned
		label := w.Methods[0].Strategy.Label()
		w.Method, w.by = w.Methods[0], ", by "+strings.ToLower(label[:1])+label[1:]
	}
	last, err := w.lastLevers()
	if err != nil {
		return err
	}
	w.Total += len(last)
	if w.try(ctx, last) || ctx.Err() != nil {
		return nil
	}
	pairs := w.pairs(append(changes, last...))
	w.Total += len(pairs)
	w.try(ctx, pairs)
	return nil
}

// change is something that might help.
type change struct {
	whatif.Change

	// For another step of a language model that does the same work:
	preset  string                          // reference of the changed preset, or
	options engine.Args                     // the changed options of the question's config.json
	lever   ask.Lever                       // the option that changes; may be empty
	build   func() (*engine.Problem, error) // builds Change.Problem
}

// try measures changes and emits an answer for each. It skips changes that cannot be built or that make no
// difference. fits reports whether one of them has a schedule.
func (w *Work) try(ctx context.Context, changes []change) (fits bool) {
	for i := range changes {
		c := &changes[i]
		a := proto.Suggestion{Name: c.Name, Preset: c.preset, Options: c.options}
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
			return fits
		}
	}
	return fits
}

// largerBatch emits an answer about the largest batch for which everything can be kept, if that is larger than the
// present batch and everything can be kept now.
func (w *Work) largerBatch(ctx context.Context) {
	a, keep := proto.Suggestion{}, engine.Lookup(engine.KeepAll)
	var build func(int) (*engine.Problem, error)
	p, batch, err := preset.Parse(w.Preset)
	most := preset.MaxBatch
	switch {
	case w.Model != "":
		batch, _ = strconv.Atoi(ask.Value(w.Options, "batch"))
		build = func(n int) (*engine.Problem, error) { return w.played(with(w.Options, "batch", n)) }
	case err == nil:
		most, build = p.Largest(), p.Problem
	}
	if build == nil || keep == nil {
		return // the batch of a file cannot be changed
	}
	if _, err := whatif.Measure(w.Problem, whatif.Method{Strategy: keep}, nil); err != nil {
		return
	}
	found, err := whatif.LargestBatch(ctx,
		&whatif.BatchQuestion{Build: build, Strategy: keep, Device: w.Problem.Device, Transfers: w.Problem.Transfers,
			Budget: w.Problem.Budget, Most: most, Limit: w.Limit}, nil)
	if err != nil || found.Batch <= batch {
		return
	}
	if w.Model != "" {
		a.Options = with(w.Options, "batch", found.Batch)
	} else {
		a.Preset = preset.Ref(p.ID, found.Batch)
	}
	a.Name, a.Strategy, a.Budget = fmt.Sprintf("batch of %d", found.Batch), keep.Name, w.Problem.Budget
	a.Batch, a.StepTime, a.Peak = found.Batch, found.StepTime, found.Peak
	w.Total++
	w.emit(ctx, a, nil)
}

// with returns a copy of args in which the option name has the value n.
func with(args engine.Args, name string, n int) engine.Args {
	return ask.With(args, name, strconv.Itoa(n))
}

// unchanged reports whether p and q are chains with the same stages, input and resident memory. What runs beside the
// stages is only for pictures, and files do not have it.
func unchanged(p, q *engine.Problem) bool {
	if p.Chain == nil || q.Chain == nil {
		return false
	}
	a, b := p.Chain.Chain, q.Chain.Chain
	return a.Resident == b.Resident && a.Input == b.Input &&
		slices.EqualFunc(a.Stages, b.Stages, func(s, t engine.Stage) bool {
			s.Asides, t.Asides = [2]engine.Aside{}, [2]engine.Aside{}
			return s == t
		})
}

// step is the step of a language model that a question is about.
type step struct {
	args    engine.Args // its options of package ask
	largest int         // batch
	// changed returns the change to other options. ok is false if there is no such step, or if it is the same.
	changed func(args engine.Args) (c change, ok bool)
}

// number returns the value of an option that is a number.
func (st *step) number(name string) int {
	n, _ := strconv.Atoi(ask.Value(st.args, name))
	return n
}

// step returns the step of the question, or nil if it is about something else.
func (w *Work) step() (*step, error) {
	if w.Model != "" && w.Problem.Chain != nil {
		return &step{w.Options, preset.MaxBatch, func(args engine.Args) (change, bool) {
			_, now, _ := preset.Split(w.Options)
			_, policy, ok := preset.Split(args)
			return change{options: args, build: func() (*engine.Problem, error) { return w.played(args) }},
				ok && (now != nil || policy == nil) && !maps.Equal(ask.Plain(args), ask.Plain(w.Options))
		}}, preset.Plays()
	}
	p, batch, err := preset.Parse(w.Preset)
	if err != nil || p.Model() == nil {
		return nil, nil
	}
	o := p.Options()
	st := &step{args: preset.StepArgs(o.Step), largest: p.Largest()}
	st.args["batch"], st.args["seq"] = strconv.Itoa(batch), strconv.Itoa(o.Tokens)
	st.changed = func(args engine.Args) (change, bool) {
		o, now := p.Options(), &step{args: maps.Clone(args)}
		o.Batch, o.Tokens = now.number("batch"), now.number("seq")
		delete(now.args, "batch")
		delete(now.args, "seq")
		text, err := preset.StepText(now.args)
		if err != nil { // the option is one that strategies choose
			return change{}, false
		}
		o.Step = text
		v, err := p.Base().With(o)
		if err != nil || v == p && o.Batch == batch {
			return change{}, false
		}
		return change{preset: preset.Ref(v.ID, o.Batch), build: func() (*engine.Problem, error) {
			q, err := v.Problem(o.Batch)
			return w.here(q), err
		}}, true
	}
	return st, p.Builds()
}

// played returns the problem of the question's config.json with other options.
func (w *Work) played(args engine.Args) (*engine.Problem, error) {
	p, err := preset.Play(w.Model, args)
	if err != nil {
		return nil, err
	}
	return w.here(engine.NewChainProblem(p.Chain, engine.Device{}, engine.Whole, engine.NoLimit)), nil
}

// here gives q, which may be nil, the device and the budget of the question.
func (w *Work) here(q *engine.Problem) *engine.Problem {
	if q != nil {
		q.Device, q.Transfers, q.Budget = w.Problem.Device, w.Problem.Transfers, w.Problem.Budget
	}
	return q
}

// levers returns changes of the step of a language model that do the same work: the options of ask.Levers, and twice
// as many sequences of half the length.
func (w *Work) levers() (out []change, err error) {
	st, err := w.step()
	if st == nil || err != nil {
		return nil, err
	}
	for _, l := range ask.Levers {
		if !l.Trains(st.args) {
			out = w.lever(out, st, ask.With(st.args, l.Option, l.Value), l)
		}
	}
	if tokens, batch := st.number("seq"), st.number("batch"); tokens >= 2*shortest && 2*batch <= st.largest &&
		st.args["height"] == "" { // of pictures the tokens follow from the sides
		out = w.lever(out, st, with(with(st.args, "seq", tokens/2), "batch", 2*batch),
			ask.Lever{Name: fmt.Sprintf("%d sequences of %s tokens", 2*batch, format.Count(tokens/2))})
	}
	return out, nil
}

// lastLevers returns the changes that are tried only if no other has a schedule: more cards, and training adapters,
// which is not the same training.
func (w *Work) lastLevers() (out []change, err error) {
	st, err := w.step()
	if st == nil || err != nil {
		return nil, err
	}
	now := st.number("gpus")
	cards := 2 * now
	for states := w.Problem.Chain.Chain.Resident.Total(); cards < mostCards/4 &&
		states > w.Problem.Budget*engine.Bytes(cards/now); {
		cards *= 2 // with fewer, a card's share of the states exceeds the budget
	}
	for _, times := range []int{1, 2, 4} {
		more := strconv.Itoa(cards * times)
		out = w.lever(out, st, ask.With(st.args, "gpus", more),
			ask.Lever{Name: fmt.Sprintf("%s cards instead of %d", more, now), Option: "gpus", Value: more})
	}
	for _, l := range ask.Levers {
		if l.Trains(st.args) {
			if l.Option != "lora" {
				l.Name = ask.LeverOf("lora", "16").Name + ", " + l.Name
			}
			out = w.lever(out, st, ask.With(st.args, l.Option, l.Value), l)
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
	st, err := w.step()
	if st == nil || err != nil {
		return nil
	}
	least := func(q *engine.Problem) float64 {
		if w.Method.Strategy.Name == engine.KeepAll {
			return float64(q.Chain.Chain.KeepAllPeak())
		}
		return float64(q.Chain.Chain.Resident.Total())
	}
	tried = slices.DeleteFunc(tried, func(c change) bool { return c.lever.Option == "" || c.Problem == nil })
	now, room, built := least(w.Problem), float64(w.Problem.Budget), 0
	for sum := 1; sum < 2*len(tried); sum++ {
		for i := max(0, sum-len(tried)+1); 2*i < sum && built < MostPairs; i++ {
			a, b := &tried[i], &tried[sum-i]
			if a.lever.Option == b.lever.Option || least(a.Problem)*least(b.Problem) > now*room {
				continue
			}
			l := ask.Lever{Name: strings.TrimSuffix(a.Name, w.by) + " + " + strings.TrimSuffix(b.Name, w.by),
				Option: b.lever.Option, Value: b.lever.Value}
			both := ask.With(ask.With(st.args, a.lever.Option, a.lever.Value), l.Option, l.Value)
			for _, c := range w.lever(nil, st, both, l) {
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

// lever adds to list the change to the options args by a lever, unless the step stays the same.
func (w *Work) lever(list []change, st *step, args engine.Args, l ask.Lever) []change {
	c, ok := st.changed(args)
	if !ok {
		return list
	}
	c.Name, c.Method, c.lever = l.Name+w.by, w.Method, l
	return append(list, c)
}

const (
	mostCards = 1024 // no more cards are tried
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

// Helps returns the indices of the answers that help, best first, and of those about the chosen strategy or another
// step that do not, in their order. If the choice fits, an answer helps if its gain is leastGain or more; of other
// strategies only the fastest counts. If the choice does not fit, every answer whose peak is at most room helps, in the
// order of cost; of other strategies those that need less than all faster ones.
func (a *Answers) Helps(unfit bool, room engine.Bytes) (best, none []int) {
	least := engine.NoLimit // another plan that needs as much does not help
	for _, i := range a.ByGain() {
		x := &a.List[i]
		another := x.Strategy != a.Strategy && x.Options == nil && x.Preset == ""
		switch {
		case x.Batch > 0, another && x.Peak >= least: // not the same work, or a faster plan does as well
		case unfit && x.StepTime > 0 && x.Peak <= room, !unfit && a.Gain(i) >= leastGain:
			if best = append(best, i); another {
				least = map[bool]engine.Bytes{true: x.Peak}[unfit]
			}
		case x.Strategy == a.Strategy, unfit && (x.Options != nil || x.Preset != ""):
			none = append(none, i)
		}
	}
	if unfit {
		slices.SortStableFunc(best, a.cost)
	}
	slices.Sort(none)
	return best[:min(len(best), mostHelps)], none
}

// cost compares the answers i and j by their cost to the user. Answers that train adapters instead of all weights come
// last; among the others, those with fewer cards come first.
func (a *Answers) cost(i, j int) int {
	of := func(i int) []int { // adapters, then cards
		args := a.List[i].Options
		if p, _, err := preset.Parse(a.List[i].Preset); err == nil && p.Model() != nil {
			args = preset.StepArgs(p.Options().Step)
		}
		cards, _ := strconv.Atoi(ask.Value(args, "gpus"))
		if ask.Value(args, "lora") == "0" {
			return []int{0, cards}
		}
		return []int{1, cards}
	}
	return slices.Compare(of(i), of(j))
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
