package enginetest

import (
	"testing"

	"memtide/engine"
)

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
