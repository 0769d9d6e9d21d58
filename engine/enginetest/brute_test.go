package enginetest

import (
	"testing"

	"memtide/engine"
)

// TestBestAgainstVectors compares the exhaustive search with the proven optima
// of the vectors: of persistent sequences, and of all sequences of Table 1.
func TestBestAgainstVectors(t *testing.T) {
	count := 0
	for _, v := range append(Load("rotor_small"), Load("paper_examples")...) {
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

// TestRandomChainsAreValid also checks that the generator covers the cases that it promises.
func TestRandomChainsAreValid(t *testing.T) {
	r := Rand(7)
	var born, zeroTime, zeroSize, extra int
	for i := range 300 {
		c := RandomChain(r, Shape{})
		if err := c.Validate(); err != nil {
			t.Fatalf("chain %d: %v\n%s", i, err, Dump(c))
		}
		if c.LossGradAllocated {
			born++
		}
		for _, s := range c.Stages {
			if s.Forward == 0 {
				zeroTime++
			}
			if s.Out == 0 {
				zeroSize++
			}
			if s.Saved > s.Out {
				extra++
			}
		}
	}
	if born == 0 || born == 300 || zeroTime == 0 || zeroSize == 0 || extra == 0 {
		t.Errorf("born %d of 300, zero times %d, zero sizes %d, saved sets larger than outputs %d: want some of each",
			born, zeroTime, zeroSize, extra)
	}
}

// TestUnits checks that the times of a vector's chain convert back to the units of the vector.
func TestUnits(t *testing.T) {
	for _, v := range Load("offload_sets") {
		c := v.Chain()
		for k, s := range v.Stages {
			if got := v.Units(c.Stages[k].Forward); got != s.UF {
				t.Errorf("%s: forward of stage %d: got %d, want %d", v.ID, k+1, got, s.UF)
			}
		}
		if got := Device(engine.HalfDuplex).ToHost.Time(engine.Bytes(7 * v.Bandwidth)); int64(got) != 7*v.Bandwidth {
			t.Errorf("%s: 7 units of time are %v on the device", v.ID, got)
		}
	}
}
