package play

import (
	"errors"
	"slices"
	"testing"

	"memtide/engine"
)

// TestHolders checks that at the peak of a plan every byte has a holder, which is the module whose operator made
// it. The workspace of a kernel counts for its module.
func TestHolders(t *testing.T) {
	trace := line(3)
	p := NewPlayer(trace)
	units := func(h []Holder) (sum engine.Bytes) {
		for _, x := range h {
			sum += x.Bytes
		}
		return sum
	}
	// With the empty plan, each unit keeps 30 bytes, and the outputs of the last two exist.
	want := []Holder{{Call: 2, Path: "1", Class: "Unit", Bytes: 40}, {Call: 3, Path: "2", Class: "Unit", Bytes: 40},
		{Call: 1, Path: "0", Class: "Unit", Bytes: 30}}
	if got := p.Holders(nil); !slices.Equal(got, want) || units(got) != p.Play(nil).Peak {
		t.Errorf("plain: got %+v, want %+v", got, want)
	}
	trace.Ops[4].Temp = 500 // of the backward of unit 1
	if got := p.Holders(nil); got[0] != (Holder{Call: ByBackward, Bytes: 500}) || units(got) != p.Play(nil).Peak {
		t.Errorf("a kernel of the backward: got %+v, want 500 bytes of it and in all %d", got, p.Play(nil).Peak)
	}
	trace.Ops[4].Temp, trace.Ops[1].Temp = 0, 300
	trace.Calls = append(trace.Calls[:3:3],
		append([]Call{{Path: "1.a", Class: "LSTM", Op: 1, End: 2}}, trace.Calls[3:]...)...)
	if got := trace.callsOf(); !slices.Equal(got, []int{1, 3, 4, ByBackward, ByBackward, ByBackward}) {
		t.Errorf("the operators are of the calls %v; want the innermost ones", got)
	}
}

// TestHoldersOfTheLeanest checks that if nothing fits, Solve returns the plan with the smallest peak together
// with the error.
func TestHoldersOfTheLeanest(t *testing.T) {
	p := NewPlayer(line(4))
	segments, got, err := p.Solve(ClassUnit, 15, 600, nil, nil)
	short, ok := errors.AsType[*engine.InfeasibleError](err)
	if !ok || got.Peak != short.Smallest || p.Play(segments) != got {
		t.Errorf("15 bytes: %v, a plan with a peak of %d, played %d; want the smallest peak that was met", err,
			got.Peak, p.Play(segments).Peak)
	}
}
