// Package lookup arranges a trace so that what is asked of it is found at once: what
// runs on a lane in a stretch of time, what the memory holds at a moment, which spans
// a layer has, what a value's life looks like, what let a span start. It knows no
// pictures and no words; packages tell and draw build on it.
//
// A Target names a thing in a trace that can be pointed at or selected, and Index
// leads from one to the next: its lane, its cause, the wait after it.
package lookup

import (
	"math"
	"slices"
	"sync"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Index is a trace, arranged so that what is asked of it is found at once. It is
// not changed after it is built, except that the critical chain and the structure of a
// graph are found when they are first asked for.
type Index struct {
	Problem *engine.Problem
	Trace   *sim.Trace
	layers
	Lanes   [sim.NumLanes]Lane
	Memory  Memory
	ByStage [][]sim.SpanID // the spans of stages 1..n
	Rows    []int32        // all spans and gaps by start, as in Lane.Ref
	Phases  []Phase

	piecesOnce sync.Once
	pieceIndex Pieces // see Pieces

	chainOnce sync.Once
	chain     []ChainLink // see CriticalChain

	graphOnce sync.Once
	structure *Structure // see Structure
}

// Makespan returns the step time: the end of the time axis.
func (m *Index) Makespan() time.Duration { return m.Trace.Makespan }

// Stages returns how many stages the strip shows.
func (m *Index) Stages() int { return len(m.Sizes) }

// Value is nil if there is no such value.
func (m *Index) Value(id engine.ValueID) *engine.Value {
	if id < 0 || int(id) >= len(m.Problem.Graph.Values) {
		return nil
	}
	return &m.Problem.Graph.Values[id]
}

// SpanName returns the short name of a span: the operation or the value moved.
func (m *Index) SpanName(s *sim.Span) string {
	if s.Op != engine.NoOp && int(s.Op) < len(m.Problem.Graph.Ops) {
		return m.Problem.Graph.Ops[s.Op].Name
	}
	return m.ValueName(s.Value)
}

// ValueName returns the name of a value, "?" if there is none.
func (m *Index) ValueName(id engine.ValueID) string {
	if v := m.Value(id); v != nil {
		return v.Name
	}
	return "?"
}

// Span is nil if there is no such span.
func (m *Index) Span(id sim.SpanID) *sim.Span {
	if id < 0 || int(id) >= len(m.Trace.Spans) {
		return nil
	}
	return &m.Trace.Spans[id]
}

// CopyLanes returns how many lanes beside compute something runs on in a trace.
func CopyLanes(t *sim.Trace) int {
	var used [sim.NumLanes]int
	for i := range t.Spans {
		used[t.Spans[i].Lane] = 1
	}
	return used[sim.ToHost] + used[sim.ToDev] + used[sim.Network] + used[sim.CPU]
}

// layers is what the strip shows, numbered from 1: the stages of a chain; of a
// graph the stages that its operations name or, if they name none, its forward
// operations.
type layers struct {
	Names     []string       // names[k-1]; empty: it has none
	Sizes     []engine.Bytes // of what layers save for their backward
	Count     int            // of layers, a loss at the end not included
	OfOp      []int32        // the layer of each operation and value; 0: it has none
	ofValue   []int32
	decisions []sim.Decision
}

// ChainLink is one link of the critical chain: a run or a copy, from where the
// link before it let it go to where it let the next one go; or, with Nothing as
// its target, a stretch for which the schedule held the next one back.
type ChainLink struct {
	Target   Target
	From, To time.Duration
}

// Phase is a part of the step that has a name.
type Phase struct {
	Name     string
	From, To time.Duration
}

// Piece is a stretch of a value's life for which its bytes are in one band: kept,
// leaving, arriving. What a streamed copy fills or empties changes linearly.
type Piece struct {
	From, To     int64 // nanoseconds
	first, after int64 // bytes at from and just before to
	life         int32
	Band         sim.Category
}

// Pieces are the pieces of all lives.
type Pieces struct {
	All     []Piece   // by start
	OfStage [][]int32 // the pieces of stages 1..n
}

// Structure is a graph in the order in which a trace runs it: its forward
// operations by place, from 0, and the values that wait long for a reader.
type Structure struct {
	Ops       []engine.OpID  // by place, in the order of their first runs
	Runs      []sim.SpanID   // by place, the first run
	Decisions []sim.Decision // by place, of what the operation makes
	Places    []int32        // by operation; -1: it is no forward operation, or does not run
	Arcs      []Arc          // the heaviest first: bytes x distance
	Blocks    []Block        // whose arcs fold, in the order of their stages
	Largest   engine.Bytes   // of the arcs
}

// Arc is a value from the operation that makes it to the last forward operation
// that reads it.
type Arc struct {
	Value    engine.ValueID
	From, To int32 // places
	Bytes    engine.Bytes
	Block    int32 // the stage that both ends are in, if its arcs fold; 0: none
}

// Block is a stage that repeats, with the arcs within it.
type Block struct {
	Stage       int32
	First, Last int32 // places of its operations
}

// Valid reports whether t exists in the model.
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

// TargetKind says what a Target is.
type TargetKind uint8

// The kinds of targets.
const (
	Nothing    TargetKind = iota
	OnSpan                // Index is a sim.SpanID
	OnGap                 // Index into Trace.Gaps
	OnStage               // Index is a stage, 1..n
	OnBand                // Index is a sim.Category
	OnBudget              // the budget line
	OnBuffer              // of Places: Index is a buffer
	OnPlayhead            // the handle of the playhead
	OnValue               // Index is an engine.ValueID
	OnCall                // of Flame: Index is a call
	OnPass                // of Passes: Index is the number of a pass
	// of Passes: Index is the number of the pass behind an idle stretch, or behind the last pass of a rank that rank
	// behind all passes
	OnIdle
)

// Target is something in a picture that can be pointed at or selected.
type Target struct {
	Kind  TargetKind
	Index int
}

// TargetOf returns the Target of a slice of a lane.
func TargetOf(ref int32) Target {
	if ref < 0 {
		return Target{OnGap, int(^ref)}
	}
	return Target{OnSpan, int(ref)}
}

// CriticalChain follows the causes from the end of the step to its start: each
// link begins when the one before it ends, so that their times add up to the step
// time. It is in the order of time; empty if nothing runs.
func (m *Index) CriticalChain() []ChainLink {
	m.chainOnce.Do(func() { m.chain = m.criticalChain() })
	return m.chain
}

func (m *Index) criticalChain() []ChainLink {
	at, id := m.Trace.Makespan, m.latest(math.MaxInt64, func(sim.SpanID) bool { return true })
	var back []ChainLink
	for id != sim.NoSpan {
		s := &m.Trace.Spans[id]
		// A copy that streams may have let the next one go before its end.
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

// latest returns the span that ended last, of several the first in the order of lanes, among those of each lane that
// ended by a moment and are admitted.
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

// before returns the span that let another one start. If the schedule held that back,
// it is what ended last of the things it would have had to wait for: the run
// before it in the schedule, and what the link did before it. Always one that
// started earlier in the order of spans, or NoSpan if there is none.
func (m *Index) before(id sim.SpanID) sim.SpanID {
	s := &m.Trace.Spans[id]
	if c := m.Span(s.Cause); c != nil && s.Cause < id && c.Start <= s.Start {
		return s.Cause
	}
	return m.latest(int64(s.Start), func(p sim.SpanID) bool {
		return p < id && (m.Trace.Spans[p].Lane != sim.Compute || m.Trace.Spans[p].Step <= s.Step)
	})
}
