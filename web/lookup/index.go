// Package lookup indexes a trace for fast queries: what runs on a lane in an interval,
// what the memory holds at a moment, which spans a layer has, the life of a value, what
// let a span start. Packages tell and draw build on it to describe and draw traces.
//
// A Target is a part of a trace that can be pointed at or selected. Methods of Index
// lead from one target to another: on its lane, to its cause, to its layer.
package lookup

import (
	"math"
	"slices"
	"sync"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Index is an indexed trace. It does not change after New, except that it computes
// its pieces, the critical chain and the structure of a graph when they are first used.
type Index struct {
	Problem *engine.Problem
	Trace   *sim.Trace
	layers
	Lanes   [sim.NumLanes]Lane
	busy    [sim.NumLanes]bool // see Busy
	Memory  Memory
	ByStage [][]sim.SpanID // [k-1]: the spans of stage k
	Rows    []int32        // all spans and gaps by start, as in Lane.Ref
	Phases  []Phase

	piecesOnce sync.Once
	pieceIndex Pieces // cached by Pieces

	chainOnce sync.Once
	chain     []ChainLink // cached by CriticalChain

	graphOnce sync.Once
	structure *Structure // cached by Structure
}

// Makespan returns the step time: the end of the time axis.
func (m *Index) Makespan() time.Duration { return m.Trace.Makespan }

// Stages returns the number of stages in the strip.
func (m *Index) Stages() int { return len(m.Sizes) }

// Value returns a value of the graph, or nil if there is no such value.
func (m *Index) Value(id engine.ValueID) *engine.Value {
	if id < 0 || int(id) >= len(m.Problem.Graph.Values) {
		return nil
	}
	return &m.Problem.Graph.Values[id]
}

// SpanName returns the short name of a span: that of its operation or of the value it moves.
func (m *Index) SpanName(s *sim.Span) string {
	if s.Op != engine.NoOp && int(s.Op) < len(m.Problem.Graph.Ops) {
		return m.Problem.Graph.Ops[s.Op].Name
	}
	return m.ValueName(s.Value)
}

// ValueName returns the name of a value, or "?" if there is no such value.
func (m *Index) ValueName(id engine.ValueID) string {
	if v := m.Value(id); v != nil {
		return v.Name
	}
	return "?"
}

// Span returns a span of the trace, or nil if there is no such span.
func (m *Index) Span(id sim.SpanID) *sim.Span {
	if id < 0 || int(id) >= len(m.Trace.Spans) {
		return nil
	}
	return &m.Trace.Spans[id]
}

// Busy reports whether anything runs in a lane: spans of the trace, or what stages do beside their passes.
func (m *Index) Busy(l sim.Lane) bool { return m.busy[l] }

// CopyLanes returns how many lanes other than compute are busy.
func (m *Index) CopyLanes() (n int) {
	for l := range m.busy {
		if l != int(sim.Compute) && m.busy[l] {
			n++
		}
	}
	return n
}

// AsideIn returns the part of a that is in a lane, and when it begins after its pass: the host steps on gradients that
// have come, and what comes back waits for what goes.
func AsideIn(a engine.Aside, l sim.Lane) (from, took time.Duration) {
	switch l {
	case sim.ToHost:
		return 0, a.ToHost
	case sim.CPU:
		return a.ToHost, a.CPU
	case sim.Network:
		return 0, a.Network
	case sim.ToDev:
		return a.ToHost + a.CPU, a.ToDev
	}
	return 0, 0
}

// layers are the layers of the strip, numbered from 1: the stages of a chain or of a graph
// or, for a graph whose operations name no stages, its forward operations.
type layers struct {
	Names     []string       // [k-1]; empty for a layer without a name
	Sizes     []engine.Bytes // [k-1]: bytes that the layer saves for its backward
	Count     int            // number of layers without a loss at the end
	OfOp      []int32        // the layer of each operation; 0 for none
	ofValue   []int32        // the layer of each value; 0 for none
	decisions []sim.Decision // [k-1]
}

// ChainLink is a link of the critical chain: a run or a copy, from the moment when the
// link before enabled it to the moment when it enabled the next one. If its target is
// Nothing, it is an interval for which the schedule held the next link back.
type ChainLink struct {
	Target   Target
	From, To time.Duration
}

// Phase is a part of the step that has a name.
type Phase struct {
	Name     string
	From, To time.Duration
}

// Piece is an interval of a value's life in which its bytes are in one band: kept,
// leaving or arriving. Its bytes change linearly during a streamed copy.
type Piece struct {
	From, To     int64 // nanoseconds
	first, after int64 // bytes at From and just before To
	life         int32
	Band         sim.Category
}

// Pieces are the pieces of all lives.
type Pieces struct {
	All     []Piece   // by start
	OfStage [][]int32 // [k-1]: the indices of the pieces of stage k
}

// Structure is a graph in the order in which a trace runs it: its forward operations by
// place, which counts from 0, and arcs for the values that wait long for a reader.
type Structure struct {
	Ops       []engine.OpID  // by place, in the order of their first runs
	Runs      []sim.SpanID   // by place: the first run
	Decisions []sim.Decision // by place: what happens to the outputs
	Places    []int32        // by operation; -1 for one that is not forward or does not run
	Arcs      []Arc          // by Weight, the largest first
	Blocks    []Block        // the stages whose arcs are folded, in order
	Largest   engine.Bytes   // size of the largest arc
}

// Arc connects the operation that makes a value to the last forward operation that reads it.
type Arc struct {
	Value    engine.ValueID
	From, To int32 // places
	Bytes    engine.Bytes
	Block    int32 // the stage that folds the arc; 0 for none
}

// Block is a repeated stage that folds the arcs within it.
type Block struct {
	Stage       int32
	First, Last int32 // places of its operations
}

// Valid reports whether t exists in the trace.
func (m *Index) Valid(t Target) bool {
	switch t.Kind {
	case OnSpan:
		return t.Index >= 0 && t.Index < len(m.Trace.Spans)
	case OnGap:
		return t.Index >= 0 && t.Index < len(m.Trace.Gaps)
	case OnStage:
		return t.Index >= 1 && t.Index <= len(m.Sizes)
	case OnBand:
		return t.Index >= 0 && t.Index < int(sim.NumCategories)
	case OnBudget, OnPlayhead:
		return true
	case OnValue:
		return t.Index >= 0 && t.Index < len(m.Problem.Graph.Values)
	}
	return false
}

// TargetKind is the kind of a Target.
type TargetKind uint8

// The kinds of targets.
const (
	Nothing    TargetKind = iota
	OnSpan                // Index is a sim.SpanID
	OnGap                 // Index into Trace.Gaps
	OnStage               // Index is a stage, 1..n
	OnBand                // Index is a sim.Category
	OnBudget              // the budget line
	OnBuffer              // in draw.Places: Index is a buffer
	OnPlayhead            // the handle of the playhead
	OnValue               // Index is an engine.ValueID
	OnCall                // in draw.Flame: Index is a call
	OnPass                // in draw.Passes: Index is the number of a pass
	// OnIdle is idle time in draw.Passes. Index is the number of the pass after it or, after the last pass of a rank,
	// the number of passes plus the rank.
	OnIdle
)

// Target is a part of a picture that can be pointed at or selected. The zero value is Nothing.
type Target struct {
	Kind  TargetKind
	Index int
}

// TargetOf returns the Target of an element of Lane.Ref.
func TargetOf(ref int32) Target {
	if ref < 0 {
		return Target{OnGap, int(^ref)}
	}
	return Target{OnSpan, int(ref)}
}

// CriticalChain returns the chain of causes that leads to the end of the step, in the order of time. Each link begins
// when the one before it ends, so that their times add up to the step time. It is empty if nothing runs.
func (m *Index) CriticalChain() []ChainLink {
	m.chainOnce.Do(func() { m.chain = m.criticalChain() })
	return m.chain
}

func (m *Index) criticalChain() []ChainLink {
	at, id := m.Trace.Makespan, m.latest(math.MaxInt64, func(sim.SpanID) bool { return true })
	var back []ChainLink
	for id != sim.NoSpan {
		s := &m.Trace.Spans[id]
		// A streamed copy may have enabled the next link before its end.
		if s.Start < at {
			back = append(back, ChainLink{Target{OnSpan, int(id)}, s.Start, at})
			at = s.Start
		}
		id = m.before(id)
		if c := m.Span(id); c == nil && at > 0 || c != nil && c.End < at {
			from := time.Duration(0)
			if c != nil {
				from = c.End
			}
			back = append(back, ChainLink{Target{}, from, at})
			at = from
		}
	}
	slices.Reverse(back)
	return back
}

// latest returns the span that ends last among those that end at or before by and that admits accepts, or NoSpan. Of
// spans that end together it is the one on the first lane.
func (m *Index) latest(by int64, admits func(id sim.SpanID) bool) sim.SpanID {
	best := sim.NoSpan
	for l := range m.Lanes {
		ln := &m.Lanes[l]
		for i := ln.FirstEnding(by) - 1; i >= 0; i-- {
			id := sim.SpanID(ln.Ref[i])
			if id < 0 || !admits(id) {
				continue
			}
			if b := m.Span(best); b == nil || m.Trace.Spans[id].End > b.End {
				best = id
			}
			break
		}
	}
	return best
}

// before returns the cause of a span. If the schedule held the span back, it is the span that ended
// last of those that come before it anyway: earlier runs of the schedule, and spans of other lanes.
// It always is an earlier span in the order of the trace, or NoSpan if there is none.
func (m *Index) before(id sim.SpanID) sim.SpanID {
	s := &m.Trace.Spans[id]
	if c := m.Span(s.Cause); c != nil && s.Cause < id && c.Start <= s.Start {
		return s.Cause
	}
	return m.latest(int64(s.Start), func(p sim.SpanID) bool {
		return p < id && (m.Trace.Spans[p].Lane != sim.Compute || m.Trace.Spans[p].Step <= s.Step)
	})
}
