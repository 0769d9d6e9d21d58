package graphs

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestBlocksWithMask checks that a small value that every layer reads does not hide the cuts, and that the plans
// are as good as without the value.
func TestBlocksWithMask(t *testing.T) {
	plain, masked := Transformer(4), Transformer(4)
	mask := engine.ValueID(len(masked.Values))
	masked.Values = append(masked.Values, engine.Value{Name: "mask", Size: 1 << 20, PartOf: engine.NoValue})
	masked.Ops[0].Out = append(masked.Ops[0].Out, mask)
	for i := range masked.Ops {
		if name := masked.Ops[i].Name; name == "softmax" || name == "b_softmax" {
			masked.Ops[i].In = append(masked.Ops[i].In, mask)
		}
	}
	var took [2]time.Duration
	for i, g := range []*engine.Graph{plain, masked} {
		m, err := newModel(g)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(m.blocks(1)); n != 10 {
			t.Errorf("graph %d: %d blocks, want 10", i, n)
		}
		sol, err := blocks.Solve(&engine.Problem{Graph: g, Budget: 2 * engine.GiB}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		took[i] = sol.Makespan
	}
	if took[1] > took[0]+took[0]/100 {
		t.Errorf("takes %v with the mask, %v without", took[1], took[0])
	}
}

// TestBlocksInLongChains checks that a chain of many different blocks, whose neighbours are joined, still has good
// plans.
func TestBlocksInLongChains(t *testing.T) {
	c := enginetest.RandomChain(enginetest.Rand(300),
		enginetest.Shape{MinStages: 300, MaxStages: 300, MaxSize: 100, MaxTime: 300})
	m, err := newModel(&engine.ExpandChain(c).Graph)
	if err != nil {
		t.Fatal(err)
	}
	l := &plans{m: m}
	l.add(m.given(), "")
	blockPlans(l, engine.Parsed{}, nil)
	best := l.fastest(l.list[0].peak * 4 / 10)
	if best == nil || best.took > l.list[0].took*109/100 {
		t.Errorf("within 40 %%: want a plan that takes at most 9 %% more than %v", l.list[0].took)
	} else {
		t.Logf("within 40 %%: +%.2f %%", 100*float64(best.took-l.list[0].took)/float64(l.list[0].took))
	}
}

// TestBlocksOnTransformers compares the plans for transformers with the extra times that were measured with exact
// fronts, in hundredths of a per cent. It also checks that no claim is below the played time.
func TestBlocksOnTransformers(t *testing.T) {
	for _, tc := range []struct {
		layers int
		extra  map[engine.Bytes]int64 // extra time by the budget, in percent of the memory for keeping everything
	}{
		{12, map[engine.Bytes]int64{20: 1530, 30: 1090, 40: 830, 50: 590, 60: 430, 80: 220}},
		{24, map[engine.Bytes]int64{20: 1410, 30: 1100, 40: 840, 50: 590, 60: 450, 80: 230}},
		{48, map[engine.Bytes]int64{20: 1380, 30: 1110, 40: 840, 50: 600, 60: 470, 80: 230}},
	} {
		if testing.Short() && tc.layers > 12 {
			continue
		}
		g := Transformer(tc.layers)
		m, err := newModel(g)
		if err != nil {
			t.Fatal(err)
		}
		l := &plans{m: m}
		l.add(m.given(), "")
		args, _ := blocks.Parse(nil)
		blockPlans(l, args, nil)
		keep := l.list[0]
		if n := len(m.blocks(inGroup)); n != tc.layers+1 {
			t.Errorf("%d layers: %d blocks, want one a layer and the head", tc.layers, n)
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

// TestBlocksWithoutCuts plans U-Nets and dense networks, in which several values cross every cut. Their parts end
// at cuts with all of these values. The plans keep their claims, and need less memory for little extra time.
func TestBlocksWithoutCuts(t *testing.T) {
	for _, tc := range []struct {
		name  string
		g     *engine.Graph
		parts int
		extra map[engine.Bytes]int64 // extra time in ten-thousandths, by the budget in percent
	}{
		{"U-Net", UNet(3, 4), 6, map[engine.Bytes]int64{30: 2400, 50: 1200}},
		{"dense", DenseNet(2, 6), 6, map[engine.Bytes]int64{30: 460, 50: 90}},
	} {
		m, err := newModel(tc.g)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(m.blocks(inGroup)); n < tc.parts {
			t.Errorf("%s: %d blocks, want %d", tc.name, n, tc.parts)
		}
		l := &plans{m: m}
		l.add(m.given(), "")
		blockPlans(l, engine.Parsed{}, nil)
		keep := l.list[0]
		for percent, most := range tc.extra {
			best := l.fastest(keep.peak * percent / 100)
			if best == nil {
				t.Errorf("%s within %d %%: no plan", tc.name, percent)
				continue
			}
			if extra := int64(best.took-keep.took) * 10_000 / int64(keep.took); extra > most {
				t.Errorf("%s within %d %%: takes %d more in ten thousand, want %d at most", tc.name, percent,
					extra, most)
			} else {
				t.Logf("%s within %d %%: %d more in ten thousand", tc.name, percent, extra)
			}
		}
	}
}

// TestBlocksClaims checks that no plan needs more memory than the recursion says, with one or several values at a
// cut.
func TestBlocksClaims(t *testing.T) {
	for i, g := range []*engine.Graph{UNet(3, 3), DenseNet(2, 4), Transformer(3)} {
		m, err := newModel(g)
		if err != nil {
			t.Fatal(err)
		}
		peak, _, _ := m.cost(m.given())
		c := &chainOf{blocks: m.blocks(inGroup), limit: peak}
		c.analyse(m, c.classify(m))
		n := len(c.blocks)
		outside := g.Fixed + m.kinds[m.source()].bytes
		for v, stays := range c.blocks[0].through {
			if stays {
				outside += m.size[v]
			}
		}
		for k, p := range c.solve() {
			if played, _, ok := m.cost(c.build(0, n-1, int32(k), nil)); !ok || played > p.memory+outside {
				t.Errorf("graph %d, plan %d: claims %d beside %d, plays %d, can run %v", i, k, p.memory, outside,
					played, ok)
			}
		}
	}
}
