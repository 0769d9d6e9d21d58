package remat

import (
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestFit compares what the groups tell about the room with the whole table of
// needs, right above and right below the least room and elsewhere.
func TestFit(t *testing.T) {
	r := enginetest.Rand(23)
	without := allTricks
	without.ready = false
	early := 0
	for i := range 60 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 24, MaxStages: 70, MaxSize: 300, MaxTime: 100})
		for _, build := range []func(*engine.Chain, engine.Bytes) *terms{rotorTerms, outputOnlyTerms} {
			x := build(c, c.KeepAllPeak())
			whole, err := newFloors(x, nil)
			if err != nil {
				t.Fatal(err)
			}
			root := whole.root()
			for _, room := range []int64{root - 1, root, root + root/10, root + root/2, 2 * root} {
				x.room = room
				for _, use := range []tricks{allTricks, without} {
					f := &floors{t: x}
					got, err := f.fit(x, use, nil)
					if err != nil || got != (room >= root) {
						t.Fatalf("seed 23 chain %d lean %v room %d: got %v, %v; %d is enough\n%s", i, x.outputOnly,
							room, got, err, root, enginetest.Dump(c))
					}
					if f.least == nil {
						early++
					}
				}
			}
		}
	}
	if early < 60 {
		t.Errorf("the groups told in %d cases, want 60 or more", early)
	}
}

// TestArenaKeepsLongRows puts rows that are longer than segments between short ones.
func TestArenaKeepsLongRows(t *testing.T) {
	var a arena[int64]
	var refs []rowRef
	lengths := []int{1, 300, 70_000, 2, 65_536, 65_535, 1, 140_000, 3}
	row := func(i, n int) []step[int64] { return slices.Repeat([]step[int64]{{int64(i), int64(n)}}, n) }
	for i, n := range lengths {
		refs = append(refs, a.put(row(i, n)))
	}
	for i, n := range lengths {
		if got := a.get(refs[i]); !slices.Equal(got, row(i, n)) {
			t.Errorf("row %d of %d steps: got %d steps, and they differ", i, n, len(got))
		}
	}
}
