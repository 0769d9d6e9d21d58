package sim

import (
	"memtide/engine"
)

// noteGap opens, keeps or changes the gap on the compute lane. playInstant calls it at the end of every instant.
func (pl *player) noteGap() {
	if pl.run != nil && pl.gap.Reason == None {
		return
	}
	now := Gap{Start: pl.now, Value: engine.NoValue, Step: pl.pc, Cause: NoSpan}
	switch {
	case pl.run != nil || pl.over():
	case pl.pc == len(pl.s):
		now.Reason = Drain
	default:
		now.Reason, now.Value = pl.hold.reason, pl.hold.value
		if pl.hold.reason == NeedsRoom {
			now.Need = pl.hold.need - pl.room()
		}
	}
	if g := &pl.gap; g.Reason == now.Reason && g.Step == now.Step && g.Value == now.Value {
		return
	}
	pl.closeGap()
	pl.gap = now
}

// closeGap ends the open gap now and records its cause. It drops gaps of no duration.
func (pl *player) closeGap() {
	g := pl.gap
	pl.gap = Gap{}
	if g.Reason == None || g.Start == pl.now {
		return
	}
	g.End = pl.now
	switch g.Reason {
	case NeedsData:
		if g.Value != engine.NoValue {
			g.Cause = pl.fetched(g.Value)
		} else {
			g.Cause = lanes.brought(pl, g)
		}
	case CopyOut:
		g.Cause = pl.places[g.Value].lastOffload
	case NeedsRoom:
		g.Cause = pl.release
	case Drain:
		g.Cause = pl.lastEnded()
	}
	pl.cause = g.Cause
	pl.t.Gaps = append(pl.t.Gaps, g)
}

// fetched returns the latest fetch of v or, if what ended a wait for v is one of a value that contains it, that fetch.
func (pl *player) fetched(v engine.ValueID) SpanID {
	for in := v; in != engine.NoValue; in = pl.g.Values[in].PartOf {
		if f := pl.places[in].lastFetch; f != NoSpan && pl.t.Spans[f].End == pl.now {
			return f
		}
	}
	return pl.places[v].lastFetch
}

// lastEnded returns the span of the other lanes that ended last, or NoSpan.
func (pl *player) lastEnded() SpanID {
	best := NoSpan
	for i := range pl.link.queues {
		q := &pl.link.queues[i]
		if q.last != NoSpan && (best == NoSpan || pl.t.Spans[q.last].End > pl.t.Spans[best].End) {
			best = q.last
		}
	}
	return best
}

// finish closes the open gap and lives, and fills in the totals of the trace.
func (pl *player) finish() {
	t := pl.t
	t.Makespan = pl.now
	pl.closeGap()
	for i := range t.Lives {
		if t.Lives[i].EndSeq < 0 {
			pl.closeLife(i)
		}
	}
	pl.sample()
	for i := range t.Spans {
		sp := &t.Spans[i]
		switch d := sp.End - sp.Start; sp.Kind {
		case SpanForward, SpanBackward:
			t.ComputeTime += d
		case SpanRecompute:
			t.RecomputeTime += d
		}
	}
	for i := range t.Gaps {
		t.Waiting[t.Gaps[i].Reason] += t.Gaps[i].End - t.Gaps[i].Start
	}
	t.Decisions = pl.decisions()
}

// decisions returns what became of each stage's activation.
func (pl *player) decisions() []Decision {
	ds := make([]Decision, pl.g.Stages)
	mark := func(stage int, d Decision) {
		if stage >= 1 && stage <= len(ds) {
			ds[stage-1] |= d
		}
	}
	for i := range pl.t.Spans {
		switch sp := &pl.t.Spans[i]; sp.Kind {
		case SpanRecompute:
			mark(pl.g.Ops[sp.Op].Stage, Recompute)
		case SpanOffload:
			if v := &pl.g.Values[sp.Value]; v.Kind == engine.KindActivation {
				mark(v.Stage, Offload)
			}
		}
	}
	return ds
}
