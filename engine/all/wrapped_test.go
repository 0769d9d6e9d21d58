package all_test

import (
	"slices"

	"memtide/engine"
)

// wrapped reports whether a schedule runs the forwards in order and either keeps stages or drops consecutive
// stages and computes them again as a whole just before their backward. An output-only run whose input is freed
// before the next run belongs to the same part as the run before it.
func wrapped(g *engine.ChainGraph, s engine.Schedule) bool {
	n := g.Chain.Len()
	var got, want []engine.Instruction
	joined := make([]bool, n+2)
	for i, st := range s {
		if st.Kind != engine.DoRun {
			continue
		}
		got = append(got, engine.Instruction{Op: st.Op, OutputOnly: st.OutputOnly})
		k := g.Ops[st.Op].Stage
		for _, next := range s[i+1:] {
			if next.Kind == engine.DoRun {
				break
			}
			joined[k] = joined[k] || st.OutputOnly && next.Kind == engine.DoFree && next.Value == g.Act(k-1)
		}
	}
	if len(got) < n {
		return false
	}
	for k := 1; k <= n; k++ {
		want = append(want, engine.Instruction{Op: g.Fwd(k), OutputOnly: got[k-1].OutputOnly && k < n})
	}
	for k := n; k >= 1; k-- {
		first := k
		for first > 1 && want[k-1].OutputOnly && joined[first] && want[first-2].OutputOnly {
			first--
		}
		for j := first; j <= k && want[k-1].OutputOnly; j++ {
			want = append(want, engine.Instruction{Op: g.Fwd(j)})
		}
		for j := k; j >= first; j-- {
			want = append(want, engine.Instruction{Op: g.Bwd(j)})
		}
		k = first
	}
	return slices.Equal(got, want)
}
