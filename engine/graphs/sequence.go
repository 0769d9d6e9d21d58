package graphs

import (
	"slices"
	"time"

	"memtide/engine"
)

// life is a copy of a value: from the start of the run at place from of a sequence to the end of the run at place
// to. Place -1 is the start of the step, and the length of the sequence is its end.
type life struct {
	value    int32
	from, to int
}

// lives returns the copies that a sequence of kinds makes, each freed after its last read. ok is false if a run reads a
// value that is not in memory, if an operation that has to run does not, or if one runs again that must not.
func (m *model) lives(seq []kindID) (list []life, ok bool) {
	at := slices.Repeat([]int32{none}, len(m.size)) // by value: the copy that serves its readers
	write := func(k *kind, place int) {
		first := int32(len(list))
		for _, v := range k.writes {
			list = append(list, life{v, place, place})
		}
		for _, s := range k.serves {
			at[s.value] = first + s.write
		}
	}
	read := func(in []int32, place int) bool {
		for _, v := range in {
			if at[v] == none {
				return false
			}
			list[at[v]].to = place
		}
		return true
	}
	write(&m.kinds[m.source()], -1)
	ran := make([]bool, m.ops)
	for p, id := range seq {
		k := &m.kinds[id]
		if !read(k.reads, p) {
			return list, false
		}
		if k.what == engine.DoRun {
			if ran[k.op] && m.once[k.op] {
				return list, false
			}
			ran[k.op] = true
		}
		write(k, p)
	}
	for _, i := range m.order {
		if !ran[i] {
			return list, false
		}
	}
	return list, read(m.in[m.sink()], len(seq))
}

// usage returns the memory in use during every run of a sequence. ok is as in lives.
func (m *model) usage(seq []kindID) (during []engine.Bytes, ok bool) {
	list, ok := m.lives(seq)
	change := make([]engine.Bytes, len(seq)+2)
	for _, l := range list {
		change[max(l.from, 0)] += m.size[l.value]
		change[l.to+1] -= m.size[l.value]
	}
	used := m.g.Fixed
	for p, id := range seq {
		used += change[p]
		during = append(during, used+m.kinds[id].temp)
	}
	return during, ok
}

// cost returns the peak of a sequence, resident memory included, and its time. ok is as in lives.
func (m *model) cost(seq []kindID) (peak engine.Bytes, took time.Duration, ok bool) {
	during, ok := m.usage(seq)
	peak = m.g.Fixed + m.kinds[m.source()].bytes
	for p, id := range seq {
		peak = max(peak, during[p])
		took += m.kinds[id].time
	}
	return peak, took, ok
}

// schedule returns the schedule of a sequence for which cost returns ok.
func (m *model) schedule(seq []kindID) engine.Schedule {
	list, _ := m.lives(seq)
	after := make([][]engine.ValueID, len(seq)+2)
	for _, l := range list {
		after[l.to+1] = append(after[l.to+1], engine.ValueID(l.value))
	}
	var steps engine.Schedule
	free := func(place int) {
		for _, v := range after[place+1] {
			steps = append(steps, engine.Free(v))
		}
	}
	free(-1)
	for p, id := range seq {
		steps = append(steps, m.step(id))
		free(p)
	}
	return steps
}

func (m *model) step(id kindID) engine.Instruction {
	k := &m.kinds[id]
	if k.what == engine.DoRun {
		return engine.Instruction{Op: engine.OpID(k.op), Value: engine.NoValue, OutputOnly: k.lean, Alt: k.alt}
	}
	return engine.Instruction{Kind: k.what, Op: engine.NoOp, Value: engine.ValueID(m.moved(k))}
}

// reruns returns the number of runs that repeat an operation, and the sum of their times.
func (m *model) reruns(seq []kindID) (runs int, took time.Duration) {
	ran := make([]bool, m.ops)
	for _, id := range seq {
		if k := &m.kinds[id]; k.what == engine.DoRun {
			if ran[k.op] {
				runs++
				took += k.time
			}
			ran[k.op] = true
		}
	}
	return runs, took
}

// solution returns the solution of a sequence for which cost returns ok.
func (m *model) solution(seq []kindID) *engine.Solution {
	peak, took, ok := m.cost(seq)
	if !ok {
		panic("graphs: a sequence of runs that cannot run")
	}
	return &engine.Solution{Schedule: m.schedule(seq), Makespan: took, Peak: peak, Bound: m.base}
}

// given returns the sequence that keeps everything, in the order of the graph.
func (m *model) given() []kindID { return slices.Clone(m.order) }

// quickest returns the same sequence with every operation by its fastest full kind.
func (m *model) quickest() []kindID {
	seq := m.given()
	for p, i := range seq {
		for _, id := range m.ways[i] {
			if k := &m.kinds[id]; !k.lean && k.time < m.kinds[seq[p]].time {
				seq[p] = id
			}
		}
	}
	return seq
}
