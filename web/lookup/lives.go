package lookup

import (
	"slices"
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Stays calls emit for every stay of a value on the device, in the order of time.
func (m *Index) Stays(v engine.ValueID, emit func(*sim.Life)) {
	for i := range m.Trace.Lives {
		if l := &m.Trace.Lives[i]; l.Value == v {
			emit(l)
		}
	}
}

// Copies calls emit for every copy of a value.
func (m *Index) Copies(v engine.ValueID, emit func(*sim.Span)) {
	for i := range m.Trace.Spans {
		if s := &m.Trace.Spans[i]; s.Op == engine.NoOp && s.Value == v {
			emit(s)
		}
	}
}

// Reads calls emit for every run that reads a value, in the order of time.
func (m *Index) Reads(v engine.ValueID, emit func(*sim.Span)) {
	for i := range m.Trace.Spans {
		if s := &m.Trace.Spans[i]; s.Op != engine.NoOp && slices.Contains(m.Problem.Graph.Ops[s.Op].In, v) {
			emit(s)
		}
	}
}

// Held is the content of the device memory at one moment.
type Held struct {
	Total  engine.Bytes
	Used   [sim.NumCategories]engine.Bytes
	Lives  []HeldValue  // the largest values, the largest first
	Others int          // number of the other values
	Rest   engine.Bytes // total size of the other values
}

// HeldValue is a value, or the temporaries of a run, in Held.
type HeldValue struct {
	Name  string       // s17, or "temporaries of B18"
	Stage string       // empty if it belongs to none
	Bytes engine.Bytes // full size, even while it is arriving or leaving
}

// HeldAt returns the content of the memory at a moment, with the n largest values. Values that
// stay for the whole step count only in Used[sim.Fixed].
func (m *Index) HeldAt(at time.Duration, n int) Held {
	held := sim.Sample{Used: m.Memory.Used(at)}
	h := Held{Used: held.Used, Total: held.Total()}
	var ids []int
	for i := range m.Trace.Lives {
		if l := &m.Trace.Lives[i]; l.Start <= at && at < l.End && l.Bytes > 0 {
			ids = append(ids, i)
		}
	}
	sort.SliceStable(ids, func(a, b int) bool { return m.Trace.Lives[ids[a]].Bytes > m.Trace.Lives[ids[b]].Bytes })
	for i, id := range ids {
		l := &m.Trace.Lives[id]
		if i >= n {
			h.Others++
			h.Rest += l.Bytes
			continue
		}
		name, stage := m.LifeName(id)
		h.Lives = append(h.Lives, HeldValue{name, stage, l.Bytes})
	}
	return h
}

// LifeName returns the name of the value of life i of the trace, or of its temporaries, and the name of its layer.
func (m *Index) LifeName(i int) (name, layer string) {
	if i < 0 || i >= len(m.Trace.Lives) {
		return "", ""
	}
	l, name := &m.Trace.Lives[i], "?"
	k := m.stageOfValue(l.Value)
	if v := m.Value(l.Value); v != nil {
		name = v.Name
	} else if l.Op >= 0 && int(l.Op) < len(m.OfOp) {
		name, k = "temporaries of "+m.Problem.Graph.Ops[l.Op].Name, int(m.OfOp[l.Op])
	}
	if k > 0 {
		layer = m.StageName(k)
	}
	return name, layer
}
