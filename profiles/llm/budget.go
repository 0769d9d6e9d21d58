package llm

import (
	"math"

	"memtide/engine"
)

// budgetScale is how finely the partitioner tells sizes apart [torch/_functorch/
// _activation_checkpointing/knapsack.py: dp_knapsack, S].
const budgetScale = 10000

// fill selects what torch.compile's partitioner keeps under a memory budget in per cent: of
// the values that the block keeps without one those whose recomputation takes the longest,
// with all their sizes within it. Time counts by operations, and any value for one at least
// [torch/_functorch/partitioners.py: choose_saved_values_set,
// estimate_runtime in its mode "flops"]. Its input stays in any case.
func (b *block) fill(percent int64) {
	if percent == 0 { // nothing but the input, not even what rounds to no size
		return
	}
	var items []valueID
	var all engine.Bytes
	flops := make([]float64, len(b.values)) // that make each value, by root
	for _, o := range b.ops {
		for _, v := range o.out {
			flops[b.values[v].root] += o.flops
		}
	}
	for root, n := range b.keepers {
		if root == 0 || b.values[root].bytes == 0 {
			continue
		}
		if n > 0 {
			all += b.values[root].bytes
		}
		if b.late && flops[root] > 0 || !b.late && n > 0 {
			items = append(items, valueID(root))
		}
	}
	room := int(percent * budgetScale / 100)
	cells := func(v valueID) int {
		return int(engine.Int64(math.Round(float64(b.values[v].bytes) / float64(all) * budgetScale)))
	}
	best := make([]float64, room+1)        // by size: the most time
	taken := make([][]bool, 0, len(items)) // by item and size
	for _, v := range items {
		n := cells(v)
		took := make([]bool, room+1)
		for at := room; at >= n; at-- {
			if t := best[at-n] + max(flops[v], 1); t > best[at] {
				best[at], took[at] = t, true
			}
		}
		taken = append(taken, took)
	}
	at := room
	for i := len(items) - 1; i >= 0; i-- {
		if taken[i][at] {
			b.cached[items[i]] = true
			at -= cells(items[i])
		}
	}
}
