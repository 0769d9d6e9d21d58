package graphs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// serial returns the sequence that has only what an operation needs on the device: after each operation everything
// leaves, and before each one the values that it reads come back. No schedule of runs and transfers needs less
// memory. If there are output-only runs, a value that only a full run makes is made right before it is first read.
func (m *model) serial() (seq []kindID) {
	out := make([]bool, len(m.size)) // by value: it has left
	leave := func(k *kind) {
		for _, v := range k.writes {
			if m.offload[v] != none && !out[v] {
				out[v] = true
				seq = append(seq, m.offload[v], m.wait[v])
			}
		}
	}
	leave(&m.kinds[m.source()])
	full := make([]bool, m.ops)
	var run func(id kindID)
	fetch := func(reads []int32) {
		for _, v := range reads {
			if m.fetch[v] != none && !slices.Contains(reads, int32(m.g.Values[v].PartOf)) {
				seq = append(seq, m.fetch[v])
			}
		}
	}
	run = func(id kindID) {
		k := &m.kinds[id]
		for _, v := range k.reads {
			if i := m.maker[v]; i != m.source() && !full[i] && m.kinds[m.lean[i]].write(v) == none {
				full[i] = true
				run(i)
			}
		}
		fetch(k.reads)
		seq = append(seq, m.slim(id))
		leave(k)
	}
	for _, i := range m.order {
		if l := m.lean[i]; l != none && !m.once[i] {
			run(l)
		} else if !full[i] {
			full[i] = true
			run(i)
		}
	}
	fetch(m.in[m.sink()])
	return seq
}

// element is a kind to be placed before the run number slot; rank orders elements of equal slots.
type element struct {
	slot, rank int
	id         kindID
}

// ofSchedule returns the sequence of a schedule that can be played. A fetch is before the run during which it
// began, an offload at its place, and a wait where its offload ended. Operations that need not run are left out.
// The result is nil if no sequence corresponds to the schedule.
func (m *model) ofSchedule(p *engine.Problem, steps engine.Schedule) []kindID {
	trace, err := sim.Play(p, steps)
	if err != nil {
		return nil
	}
	at := make([]*sim.Span, len(steps))
	var begins, ends []time.Duration // of runs, in order
	for i := range trace.Spans {
		at[trace.Spans[i].Step] = &trace.Spans[i]
	}
	for i, st := range steps {
		if st.Kind == engine.DoRun {
			begins, ends = append(begins, at[i].Start), append(ends, at[i].End)
		}
	}
	first := func(times []time.Duration, t time.Duration) int { // index of the first time that is not before t
		n, _ := slices.BinarySearch(times, t)
		return n
	}
	var list []element
	runs := 0
	wait := make([]int, len(m.size)) // by value: index of its wait in list, plus 1
	for i, st := range steps {
		if st.Kind != engine.DoRun && (m.size[st.Value] == 0 || len(m.users[st.Value]) == 0) {
			continue // it never moves, or is freed at once
		}
		switch v := st.Value; st.Kind {
		case engine.DoRun:
			id := m.kindOf(st)
			if id == none {
				return nil
			}
			if m.needed[m.kinds[id].op] {
				list = append(list, element{runs, 3, id})
			}
			runs++
		case engine.DoOffload:
			if m.offload[v] == none {
				return nil
			}
			if wait[v] == 0 { // one offload of a value is enough
				list = append(list, element{runs, 0, m.offload[v]},
					element{max(runs, first(begins, at[i].End)), 1, m.wait[v]})
				wait[v] = len(list)
			}
		case engine.DoFetch:
			if wait[v] == 0 {
				return nil
			}
			slot := max(first(ends, at[i].Start+1), list[wait[v]-2].slot)
			list[wait[v]-1].slot = min(list[wait[v]-1].slot, slot)
			list = append(list, element{slot, 2, m.fetch[v]})
		}
	}
	slices.SortStableFunc(list, func(a, b element) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.rank, b.rank))
	})
	seq := make([]kindID, len(list))
	for i, e := range list {
		seq[i] = e.id
	}
	if _, _, ok := m.cost(seq); !ok {
		return nil
	}
	return seq
}

// used returns a sequence without fetches that have no reader, and without offloads of values that are not fetched.
func (m *model) used(seq []kindID) []kindID {
	list, _ := m.lives(seq)
	idle := make([]bool, len(seq))
	for _, l := range list {
		idle[max(l.from, 0)] = idle[max(l.from, 0)] || l.from >= 0 && l.from == l.to &&
			m.kinds[seq[l.from]].what == engine.DoFetch
	}
	fetched := make([]bool, len(m.size))
	for at, id := range seq {
		if k := &m.kinds[id]; k.what == engine.DoFetch && !idle[at] {
			fetched[k.writes[0]] = true
		}
	}
	out := make([]kindID, 0, len(seq))
	for at, id := range seq {
		if k := &m.kinds[id]; !idle[at] && (k.what == engine.DoRun || fetched[m.moved(k)]) {
			out = append(out, id)
		}
	}
	return out
}

// play plays a sequence, with and without its waits. Without waits, runs wait for room by themselves. It keeps the
// result if it is faster than the best. ok is false if the sequence cannot be played within the budget.
func (j *joint) play(seq []kindID, how string) (ok bool) {
	seq = j.m.used(seq)
	if !j.playAs(seq, seq, how) {
		return false
	}
	loose := slices.DeleteFunc(slices.Clone(seq), func(id kindID) bool { return j.m.kinds[id].what == engine.DoWait })
	if len(loose) < len(seq) {
		j.playAs(loose, seq, how)
	}
	return true
}

// playAs plays a sequence. If it is the fastest, it keeps it with seq, the sequence that it comes from, and how it
// was found.
func (j *joint) playAs(played, seq []kindID, how string) (ok bool) {
	steps := j.m.schedule(played)
	trace, err := sim.Play(j.p, steps)
	if err == nil && (j.best == nil || trace.Makespan < j.best.Makespan) {
		j.best, j.how, j.seq = &engine.Solution{Schedule: steps, Makespan: trace.Makespan, Peak: trace.Peak,
			Notes: []string{j.m.describeAll(seq)}}, how, seq
	}
	return err == nil
}

// describeAll returns, in words, what runs again and what moves.
func (m *model) describeAll(seq []kindID) string {
	outs, ins := 0, 0
	for _, id := range seq {
		switch m.kinds[id].what {
		case engine.DoOffload:
			outs++
		case engine.DoFetch:
			ins++
		}
	}
	runs := slices.DeleteFunc(slices.Clone(seq), func(id kindID) bool { return m.kinds[id].what != engine.DoRun })
	return fmt.Sprintf("%s There are %d offloads and %d fetches.", m.describe(runs), outs, ins)
}
