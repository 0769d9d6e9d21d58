package remat

import (
	"testing"
	"time"

	"memtide/engine"
)

// fourLayers returns a chain of four layers of 1 ms forward that keep 10 bytes and pass on 2, and a loss.
func fourLayers() *engine.Chain {
	c := &engine.Chain{Input: 2}
	for range 4 {
		c.Stages = append(c.Stages, engine.Stage{Forward: time.Millisecond, Back: 2 * time.Millisecond, Out: 2,
			Saved: 10, Grad: 2})
	}
	c.Stages = append(c.Stages, engine.Stage{Out: 1, Saved: 1, Grad: 1})
	return c
}

// TestLayers compares layerwise with results by hand. At the end of the last forward, a layer that keeps
// everything holds 10 bytes, and a layer that is computed again holds the 2 of its input. Its 10 come back one
// layer at a time.
func TestLayers(t *testing.T) {
	for _, test := range []struct {
		which, n string
		budget   engine.Bytes
		time     time.Duration
	}{
		{"every", "1", engine.NoLimit, 16 * time.Millisecond},
		{"every", "2", engine.NoLimit, 14 * time.Millisecond},
		{"every", "4", engine.NoLimit, 13 * time.Millisecond},
		{"first", "1", engine.NoLimit, 13 * time.Millisecond},
		{"first", "3", engine.NoLimit, 15 * time.Millisecond},
		{"every", "0", engine.NoLimit, 13 * time.Millisecond}, // n = 3 is chosen, so one layer of four
		{"first", "0", 26, 15 * time.Millisecond},
	} {
		p := engine.NewChainProblem(fourLayers(), engine.Device{}, engine.Whole, test.budget)
		sol, err := engine.Lookup("layerwise").Solve(p, engine.Args{"which": test.which, "n": test.n}, nil)
		if err != nil {
			t.Errorf("%s, n = %s in %d bytes: %v", test.which, test.n, test.budget, err)
			continue
		}
		if sol.Makespan != test.time || sol.Peak > test.budget {
			t.Errorf("%s, n = %s in %d bytes: %v and %d bytes, want %v", test.which, test.n, test.budget,
				sol.Makespan, sol.Peak, test.time)
		}
	}
	p := engine.NewChainProblem(fourLayers(), engine.Device{}, engine.Whole, engine.NoLimit)
	if _, err := engine.Lookup("layerwise").Solve(p, engine.Args{"n": "9"}, nil); err == nil {
		t.Error("n = 9 of 4 layers: solved; want a refusal")
	}
}

// TestAgain checks that the first n layers are a prefix, and that every n-th layer is a multiple of n.
func TestAgain(t *testing.T) {
	for layer, want := range map[int][2]bool{1: {false, true}, 2: {true, true}, 3: {false, true}, 4: {true, false}} {
		if got := [2]bool{recomputes(true, 2, layer), recomputes(false, 3, layer)}; got != want {
			t.Errorf("layer %d: every second %v, the first three %v; want %v", layer, got[0], got[1], want)
		}
	}
}
