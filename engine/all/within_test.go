package all_test

import (
	"slices"
	"testing"

	"memtide/engine"
)

// The sets that claims range over, by the words of Solution.Within.
const (
	everySchedule = "all schedules"
	keepsAll      = "schedules that keep everything"
	persistent    = "persistent recomputation"
	laterFirst    = "persistent recomputation that runs no stage while the saved set of a later one is there"
	outputsOnly   = "persistent recomputation that keeps outputs only"
	table1        = "all sequences of Table 1"
	drops         = "all sequences of Table 1 with drops at any time"
	offloads      = "schedules that offload and do not recompute"
	ordered       = "schedules that offload activations, do not recompute, and fetch nothing before the last offload"
	wholeOnce     = "schedules of whole transfers that offload each activation at most once and do not recompute"
	heldLonger    = ", with each saved set there while the stage after it runs" // where there are outputs that nobody saves
	passesApart   = "persistent recomputation with ordered offloads of segment inputs, passes apart"
	segmentInputs = "persistent recomputation with ordered offloads of segment inputs"
)

// holdsSets are the sets that a set contains, beside those that these contain. A
// new set of a claim that may be optimal has to be declared here: without it no
// claim within it is accepted. In one problem all transfers are whole, or none.
var holdsSets = map[string][]string{
	keepsAll:               nil,
	outputsOnly:            nil,
	persistent:             {laterFirst},
	laterFirst:             {outputsOnly, keepsAll},
	table1:                 {persistent},
	drops:                  {table1},
	ordered:                {keepsAll},
	wholeOnce:              {ordered},
	offloads:               {ordered, wholeOnce},
	passesApart:            {persistent},
	segmentInputs:          {passesApart, ordered},
	ordered + heldLonger:   {keepsAll},
	wholeOnce + heldLonger: {ordered + heldLonger},

	everySchedule: {drops, offloads, segmentInputs},
}

// chosenFrom is the smallest of these sets that holds all schedules of a strategy
// with its default arguments. That of the others follows from their class.
var chosenFrom = map[string]string{
	"keepall":       keepsAll,
	"sequential":    laterFirst,
	"revolve":       outputsOnly,
	"rotor":         laterFirst,
	"nonpersistent": table1,
	"greedy":        ordered,
	"dynprog":       ordered,
	"offloadsearch": ordered,
	"offloadexact":  wholeOnce,
	"pofo":          passesApart,
}

// memberOf is the set that holds the schedules of a strategy.
func memberOf(s *engine.Strategy) string {
	if set, ok := chosenFrom[s.Name]; ok {
		return set
	}
	if s.Class == engine.MayOffload {
		return offloads
	}
	return everySchedule
}

// holdsSet says whether every schedule of a set is in another.
func holdsSet(set, inner string) bool {
	return set == inner || slices.ContainsFunc(holdsSets[set], func(s string) bool { return holdsSet(s, inner) })
}

// neverBeaten compares what claims to be optimal with the schedules that are in the
// set that it claims this for, whichever strategy found them.
func neverBeaten(t *testing.T, input string, s *engine.Strategy, sol *engine.Solution, sols map[string]*engine.Solution) {
	t.Helper()
	if _, ok := holdsSets[sol.Within]; !ok {
		t.Errorf("%s%s: claims to be optimal within %q, which is not declared in holdsSets", input, s.Name, sol.Within)
	}
	for _, other := range engine.Strategies() {
		o := sols[other.Name]
		if o != nil && holdsSet(sol.Within, memberOf(other)) && o.Makespan < sol.Makespan {
			t.Errorf("%s%s: claims that %d is optimal within %q, %s takes %d", input, s.Name, sol.Makespan, sol.Within, other.Name, o.Makespan)
		}
	}
}

// TestHoldsSet: sets hold what their parts hold, and not the other way round.
func TestHoldsSet(t *testing.T) {
	for _, tc := range []struct {
		set, inner string
		want       bool
	}{
		{persistent, persistent, true},
		{passesApart, outputsOnly, true},
		{passesApart, ordered, false}, // where the passes may overlap
		{everySchedule, passesApart, true},
		{persistent, table1, false},
		{offloads, persistent, false},
		{outputsOnly, keepsAll, false},
	} {
		if got := holdsSet(tc.set, tc.inner); got != tc.want {
			t.Errorf("%q holds %q: got %v, want %v", tc.set, tc.inner, got, tc.want)
		}
	}
}
