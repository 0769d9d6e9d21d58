package llm

import (
	"cmp"
	"slices"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles"
)

// ScheduleAuto as Layout.Schedule asks for the fastest order of passes by a rule that fits: which
// one that is depends on the card, so that a question has it (Ask.Answer), and a setup alone cannot
// be played. Orders that are searched for take too long to be tried at every turn of a knob.
const ScheduleAuto = "auto"

// Order is a schedule of the pipeline as it was tried.
type Order struct {
	Name     string
	Estimate *Estimate // nil: refused
	Reason   string    // why it is refused
}

// ordered returns the answer for a pipeline in its order of passes. With ScheduleAuto, orders are
// tried from the fastest on until one fits; if none fits, it takes the one that reserves least.
func (a Ask) ordered(limit engine.Bytes) *Estimate {
	s := a.Setup.normal()
	k := newRanker(&s, a.Card)
	k.fullest = a.fullest
	if name := a.order; name != "" || s.Schedule != ScheduleAuto {
		return a.onRanks(k.fill(k.order(cmp.Or(name, s.Schedule)), limit))
	}
	rules := slices.DeleteFunc(pipeline.Names(), pipeline.Searched)
	played, reasons := k.timed(rules)
	var refused error
	for _, name := range rules {
		refused = cmp.Or(refused, reasons[name])
	}
	var least *Estimate
	try := func(ranks *Ranks) bool {
		got, err := profiles.Try(func() *Estimate { return a.onRanks(k.fill(ranks, limit)) })
		profiles.End(s.poll.Err())
		if err != nil {
			refused = err
			return false
		}
		if least == nil || got.Verdict == Fits || got.High < least.High {
			least = got
		}
		return got.Verdict == Fits
	}
	var large []*Ranks // by what is there all the time and what passes keep alone
	for _, ranks := range played {
		if float64(ranks.bound())*(1-uncertain) > float64(a.Card.Memory-a.Context) {
			large = append(large, ranks)
		} else if try(ranks) {
			return least
		}
	}
	slices.SortStableFunc(large, func(x, y *Ranks) int { return cmp.Compare(x.bound(), y.bound()) })
	for _, ranks := range large {
		if least != nil {
			break
		}
		try(ranks)
	}
	if least == nil {
		profiles.End(refused)
	}
	return least
}

// bound returns what the fullest rank holds of states and of the bytes that its passes keep, without
// temporaries: less than the rank allocates.
func (r *Ranks) bound() (most engine.Bytes) {
	for i, n := range r.lay.always {
		most = max(most, n+r.Trace.Peak[i])
	}
	return most
}

// timed plays the passes of the named schedules and returns them, fastest first, and for each one
// that the layout does not admit the reason.
func (k *ranker) timed(names []string) (out []*Ranks, refused map[string]error) {
	refused = map[string]error{}
	for _, name := range names {
		ranks, err := profiles.Try(func() *Ranks { return k.order(name) })
		profiles.End(k.s.poll.Err())
		if err != nil {
			refused[name] = err
			continue
		}
		out = append(out, ranks)
	}
	slices.SortStableFunc(out, func(x, y *Ranks) int { return cmp.Compare(x.Time, y.Time) })
	return out, refused
}

// orders returns all schedules of the pipeline: first those that fit, fastest first, then those
// that may fit, those that do not, and those that the layout does not admit. It is nil if there is
// no pipeline.
func (a Ask) orders() (out []Order) {
	if a.Setup.Schedule == "" {
		return nil
	}
	a.Setup.Workspace = a.Card.Workspace
	s := a.Setup.normal()
	k := newRanker(&s, a.Card)
	k.fullest = true
	played, refused := k.timed(pipeline.Names())
	for _, ranks := range played {
		got, err := profiles.Try(func() *Estimate { return a.onRanks(k.fill(ranks, a.enough())) })
		a.goOn()
		if err != nil {
			refused[ranks.Schedule.Name] = err
			continue
		}
		out = append(out, Order{Name: ranks.Schedule.Name, Estimate: got})
	}
	rank := map[Verdict]int{Fits: 0, Uncertain: 1, FitsNot: 2}
	slices.SortStableFunc(out, func(x, y Order) int {
		return cmp.Compare(rank[x.Estimate.Verdict], rank[y.Estimate.Verdict])
	})
	for _, name := range pipeline.Names() {
		if err := refused[name]; err != nil {
			out = append(out, Order{Name: name, Reason: err.Error()})
		}
	}
	return out
}

// leastOrder returns the order that reserves least, or an empty one if all are refused.
func leastOrder(list []Order) (name string) {
	var most engine.Bytes
	for _, o := range list {
		if o.Estimate != nil && (name == "" || o.Estimate.High < most) {
			name, most = o.Name, o.Estimate.High
		}
	}
	return name
}

// Twice reports whether an order keeps every layer, with its states, on two ranks.
func (o *Order) Twice() bool {
	s := o.Estimate.Ranks.Schedule
	return s.Stages() < len(s.Problem.Stages)
}

// lacking returns how many of the first ranks of a pipeline have to checkpoint for it to fit: all up
// to the last rank without room for what its passes keep. It is 0 if every rank has room, and
// without a pipeline.
func (a *Ask) lacking() (n int64) {
	if a.Setup.Schedule == "" || !a.Setup.keepsAll() && a.Setup.Checkpoint != CheckpointFull {
		return 0
	}
	b, err := a.under(nil)
	if err != nil {
		return 0
	}
	b.fullest, b.known = false, nil // every rank is asked for
	answer, err := b.answer(probed)
	if err != nil {
		return 0
	}
	for r, rank := range answer.Ranks.List {
		if float64(rank.most())*(1+uncertain) > float64(answer.Capacity) {
			n = int64(r) + 1
		}
	}
	return n
}
