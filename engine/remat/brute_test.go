package remat

import (
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// Class is a set of sequences of Table 1 of Beaumont et al. (arXiv:1911.13214).
type Class uint8

// The classes, each contained in the one before it.
const (
	AllSequences Class = iota
	// Persistent sequences keep an output that F_ck or F_all has read until the backward that needs it, or the
	// F_all that consumes it.
	Persistent
	Segments    // Persistent, and F^l runs only if no a^k and no abar^k with k >= l is held (rotor)
	OutputsOnly // Persistent, and F_all^l runs only right before B^l (revolve)
)

// Best returns the smallest step time over all sequences of Table 1 of Beaumont et al. (arXiv:1911.13214) that fit
// into the budget, found by Dijkstra's algorithm over the states of memory. ok is false if no sequence fits. The
// number of states is exponential in the length: use it up to 7 stages.
//
// For unsaved outputs it tries more than the strategies do. F_all^k may either keep or consume an unsaved input,
// and may free its own unsaved output at once. In persistent sequences F^k may run again although abar^k is on the
// device, from an input that has stayed since. In other classes it may not, as in Table 1.
func Best(c *engine.Chain, budget engine.Bytes, class Class) (best time.Duration, ok bool) {
	s := searcher{c: c, room: budget - c.Resident.Total(), class: class}
	start := state{grad: uint8(c.Len())}
	start.act[0] = fresh
	if s.memory(start) > s.room {
		return 0, false
	}
	s.done = map[state]bool{}
	s.push(start, 0)
	for len(s.open) > 0 {
		at := s.open.Pop()
		if s.done[at.state] {
			continue
		}
		s.done[at.state] = true
		if at.state.grad == 0 {
			return at.cost, true
		}
		for k := 1; k <= c.Len(); k++ {
			s.expand(at, k)
		}
	}
	return 0, false
}

// maxStages bounds the arrays of a state.
const maxStages = 8

// The state of the separate copy of a^k.
const (
	absent = iota
	fresh  // on the device; the search has not decided yet whether it stays
	kept   // on the device until the backward, because F_ck or F_all has read it
)

type state struct {
	act   [maxStages]uint8
	saved [maxStages]bool
	grad  uint8
}

type entry struct {
	state
	cost time.Duration
}

func (a entry) Before(b entry) bool { return a.cost < b.cost }

type searcher struct {
	c     *engine.Chain
	room  engine.Bytes
	class Class
	open  engine.Heap[entry]
	done  map[state]bool
}

func (s *searcher) push(st state, cost time.Duration) {
	if !s.done[st] {
		s.open.Push(entry{st, cost})
	}
}

// memory returns the memory in use between operations.
func (s *searcher) memory(st state) engine.Bytes {
	sum := s.c.HeldGrad(int(st.grad))
	for k := 0; k <= s.c.Len(); k++ {
		if st.act[k] != absent {
			sum += s.c.Act(k)
		}
		if st.saved[k] {
			sum += s.c.Saved(k)
		}
	}
	return sum
}

// expand tries the four operations on stage k.
func (s *searcher) expand(at entry, k int) {
	st := at.state
	mem := s.memory(st)
	s.back(at, k, mem)
	loose := s.c.Unsaved(k - 1) // a^{k-1} is not a part of abar^{k-1}, and B^k does not read it
	if st.act[k-1] == absent && (!st.saved[k-1] || loose) {
		return
	}
	if s.class == Segments && (slices.Contains(st.saved[k:], true) || slices.Max(st.act[k:]) != absent) {
		return
	}
	stage := &s.c.Stages[k-1]
	// An output that is read without being consumed stays.
	keep := st
	if keep.act[k-1] != absent && s.class != AllSequences {
		keep.act[k-1] = kept
	}
	full := true // F_all may run
	if s.class == OutputsOnly {
		if st.saved != ([maxStages]bool{}) && !st.saved[k] {
			return // the backward of the saved stage comes next
		}
		full = int(st.grad) == k
	}
	if full && !st.saved[k] && mem+stage.Saved+s.c.Beside(k)+stage.FwdTemp <= s.room {
		next := keep
		next.saved[k] = true
		s.pushAll(next, at.cost+stage.Forward, k)
		if loose {
			next.act[k-1] = absent
			s.pushAll(next, at.cost+stage.Forward, k)
		}
	}
	again := st.saved[k] && (!s.c.Unsaved(k) || s.class != Persistent || st.act[k-1] != kept)
	if !again && st.act[k] == absent && mem+stage.Out+stage.FwdTemp <= s.room {
		next := keep
		next.act[k] = fresh
		s.push(next, at.cost+stage.Forward)
		if st.act[k-1] == fresh {
			next.act[k-1] = absent
			s.push(next, at.cost+stage.Forward)
		}
	}
}

// pushAll pushes the states after F_all^k. A separate a^k is merged into abar^k. An unsaved a^k is stored beside
// abar^k, or freed at once unless it has to stay.
func (s *searcher) pushAll(next state, cost time.Duration, k int) {
	was := next.act[k]
	next.act[k] = absent
	if was != kept || !s.c.Unsaved(k) {
		s.push(next, cost)
	}
	if s.c.Unsaved(k) {
		next.act[k] = max(was, fresh)
		s.push(next, cost)
	}
}

// back tries B^k.
func (s *searcher) back(at entry, k int, mem engine.Bytes) {
	st, stage := at.state, &s.c.Stages[k-1]
	if st.act[k-1] == absent && !st.saved[k-1] && !s.c.Unsaved(k-1) {
		return
	}
	born := s.c.Grad(k) - s.c.HeldGrad(k)
	if int(st.grad) == k && st.saved[k] && mem+born+s.c.Grad(k-1)+stage.BwdTemp <= s.room {
		next := st
		next.act[k-1], next.saved[k] = absent, false
		next.grad = uint8(k - 1)
		s.push(next, at.cost+stage.Back)
	}
}

// TestBestAgainstVectors compares the exhaustive search with the proven optima
// of the vectors: of persistent sequences, and of all sequences of Table 1.
func TestBestAgainstVectors(t *testing.T) {
	count := 0
	for _, v := range append(enginetest.Load("rotor_small"), enginetest.Load("paper_examples")...) {
		if v.Algorithm != "rotor" || len(v.Stages) >= maxStages {
			continue
		}
		for field, class := range map[string]Class{"makespan": Persistent,
			"makespan_nonpersistent_table1": AllSequences} {
			raw, has := v.Expect[field]
			feasible, _ := v.ExpectBool("feasible")
			if !has || feasible && string(raw) == "null" { // not computed
				continue
			}
			count++
			want, fits := v.ExpectInt(field)
			got, ok := Best(v.Chain(), v.BudgetBytes(), class)
			if ok != fits || ok && v.Units(got) != want {
				t.Errorf("%s: %s: got %d, %v; want %d, %v", v.ID, field, got, ok, want, fits)
			}
		}
	}
	if count < 200 {
		t.Errorf("only %d values were compared", count)
	}
}
