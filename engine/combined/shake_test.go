package combined

import (
	"reflect"
	"testing"

	"memtide/engine"
)

// shakenCase is a problem of whole transfers, with the plans of a narrow search
// that were made better as far as one or two changes do.
func shakenCase(t *testing.T, seed uint64) (p *engine.Problem, tm *terms, o *optimum, limit int64) {
	t.Helper()
	p, tm, limit = someTerms(t, seed)
	p.Transfers = engine.Whole
	o, err := solve(tm, limit, allTricks, wholeWidths, nil)
	if err != nil || len(o.plans) == 0 {
		t.Fatalf("seed %d: %v, %d plans; want some", seed, err, len(o.plans))
	}
	if o.plans, err = wholeBest(p, tm, o.plans, &limit, false, nil); err != nil {
		t.Fatal(err)
	}
	return p, tm, o, limit
}

// TestShaken: random changes find faster schedules now and then, and never leave a
// slower one. Every plan still runs, the result is that of the fastest, the
// work ends, and the same comes out again.
func TestShaken(t *testing.T) {
	const work, seeds = 2e7, 12
	better := 0
	for seed := range uint64(seeds) {
		var first [][]segment
		for range 2 {
			p, tm, o, before := shakenCase(t, seed)
			tm.effort.left = work
			after, err := shaken(p, tm, o, before, false, nil)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			lines, err := fastestLines(p, o.plans, 1, false)
			if err != nil {
				t.Fatalf("seed %d: a plan does not run any more: %v", seed, err)
			}
			if want := int64(lines[0].Makespan) * tm.q; after != want || after > before {
				t.Errorf("seed %d: %d ticks, from %d; the fastest plan takes %d", seed, after, before, want)
			}
			if tm.effort.left >= 0 && after > o.bound || tm.effort.left < -work {
				t.Errorf("seed %d: of work of %d, %d is left", seed, int64(work), tm.effort.left)
			}
			if first == nil && after < before {
				better++
			}
			if first != nil && !reflect.DeepEqual(first, o.plans) {
				t.Errorf("seed %d: two runs end with different plans", seed)
			}
			first = o.plans
		}
	}
	if better == 0 {
		t.Errorf("no schedule of %d became faster: the changes do nothing", seeds)
	}
}
