package llm

import (
	"cmp"
	"slices"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles"
)

// ScheduleAuto as Layout.Schedule asks for the fastest order of passes by a rule that fits. Which one that is
// depends on the card, so that only a question can find it (Ask.Estimate); a setup alone cannot be played. Orders
// that are found by search are left out, since they take too long for every turn of a knob.
const ScheduleAuto = "auto"

// Order is a schedule of the pipeline that was tried.
type Order struct {
	Name     string
	Estimate *Estimate // nil if the schedule was refused
	Reason   string    // why the schedule was refused
}

// ordered returns the answer for a pipeline in its order of passes. With ScheduleAuto it tries orders from the
// fastest on until one fits, and takes the order that reserves least if none fits.
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
		got.Ranks.Fastest = played[0].Time
		if least == nil || got.Verdict == Fits || got.High < least.High {
			least = got
		}
		return got.Verdict == Fits
	}
	var large []*Ranks // orders whose lower bounds do not fit
	for _, ranks := range played {
		if ranks.bound() > a.enough() {
			large = append(large, ranks)
		} else if try(ranks) {
			return least
		}
	}
	slices.SortStableFunc(large, func(x, y *Ranks) int { return cmp.Compare(x.bound(), y.bound()) })
	for _, ranks := range large {
		if least != nil && ranks.bound() >= least.High {
			break
		}
		try(ranks)
	}
	if least == nil {
		profiles.End(refused)
	}
	return least
}

// bound returns a lower bound of what the fullest rank allocates: states and the bytes that passes keep, without
// temporaries.
func (r *Ranks) bound() (most engine.Bytes) {
	for i, n := range r.lay.always {
		most = max(most, n+r.Trace.Peak[i])
	}
	return most
}

// timed plays the passes of the named schedules. It returns them, fastest first, and the reason for each schedule
// that the layout does not admit.
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

// orders returns all schedules of the pipeline: schedules that fit, fastest first, then those that may fit, those
// that do not fit, and those that the layout does not admit. It is nil without a pipeline.
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

// leastOrder returns the name of the order that reserves least, or "" if all are refused.
func leastOrder(list []Order) (name string) {
	var most engine.Bytes
	for _, o := range list {
		if o.Estimate != nil && (name == "" || o.Estimate.High < most) {
			name, most = o.Name, o.Estimate.High
		}
	}
	return name
}

// Twice reports whether an order keeps every layer and its states on two ranks.
func (o *Order) Twice() bool {
	s := o.Estimate.Ranks.Schedule
	return s.Stages() < len(s.Problem.Stages)
}

// lacking returns how many of the first ranks of a pipeline have to checkpoint for it to fit: all ranks up to the
// last one without room for what its passes keep. It is 0 if every rank has room, and without a pipeline.
func (a *Ask) lacking() (n int64) {
	if a.Setup.Schedule == "" || !a.Setup.keepsAll() && a.Setup.Checkpoint != CheckpointFull {
		return 0
	}
	b, err := a.under(nil)
	if err != nil {
		return 0
	}
	b.fullest, b.known = false, nil // every rank matters
	answer, err := b.answer(probed)
	if err != nil {
		return 0
	}
	for r, rank := range answer.Ranks.List {
		if rank.most() > b.sure() {
			n = int64(r) + 1
		}
	}
	return n
}
