package graphs

import (
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestBlocksOnTransformers holds the plans for transformers against the extra times
// that were measured with exact fronts, in hundredths of a per cent, and sees that
// their claims are not below what is played.
func TestBlocksOnTransformers(t *testing.T) {
	for _, tc := range []struct {
		layers int
		extra  map[engine.Bytes]int64 // by the budget in percent of what keeping everything takes
	}{
		{12, map[engine.Bytes]int64{20: 1530, 30: 1090, 40: 830, 50: 590, 60: 430, 80: 220}},
		{24, map[engine.Bytes]int64{20: 1410, 30: 1100, 40: 840, 50: 590, 60: 450, 80: 230}},
		{48, map[engine.Bytes]int64{20: 1380, 30: 1110, 40: 840, 50: 600, 60: 470, 80: 230}},
	} {
		if testing.Short() && tc.layers > 12 {
			continue
		}
		g := enginetest.Transformer(tc.layers)
		m, err := newModel(g)
		if err != nil {
			t.Fatal(err)
		}
		l := &plans{m: m}
		l.add(m.given(), "")
		args, _ := blocks.Parse(nil)
		blockPlans(l, args, nil)
		keep := l.list[0]
		if len(m.blocks()) != 2*tc.layers+2 {
			t.Errorf("%d layers: %d blocks", tc.layers, len(m.blocks()))
		}
		for percent, most := range tc.extra {
			sol, err := l.best(keep.peak * percent / 100)
			if err != nil {
				t.Errorf("%d layers, %d %%: %v", tc.layers, percent, err)
				continue
			}
			if extra := int64(sol.Makespan-keep.took) * 10_000 / int64(keep.took); extra > most+6 {
				t.Errorf("%d layers, %d %%: takes %d more in ten thousand; want %d", tc.layers, percent, extra, most)
			} else {
				t.Logf("%d layers, %d %%: +%d of ten thousand, at most %d wanted", tc.layers, percent, extra, most)
			}
		}
	}
}
