//go:build !js

package papers

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/bound"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// offloadPaper is the source of the experiments with offloading.
const offloadPaper = "Beaumont, Eyraud-Dubois and Shilova: Optimal GPU-CPU Offloading Strategies for Deep Neural Network Training. Euro-Par 2020, doi:10.1007/978-3-030-57675-2_10"

// paperOffload are the five methods of the paper, in the order of the tables. anyOffload adds our own method.
var (
	paperOffload = []string{"greedy", "dynprog", "vdnnthreshold", "tflms", "autoswap"}
	anyOffload   = append(append([]string(nil), paperOffload...), "offloadsearch")
)

// ratioBudgets is the number of budgets that are solved in the experiments with offloading. Every ratioShown-th
// is a row of the table.
const (
	ratioBudgets = 49
	ratioShown   = 4
)

func offloadRatio() *experiment {
	return &experiment{
		name:   "offload-fig2",
		title:  "Offloading: step time over the lower bound, against memory",
		source: offloadPaper + ", figure 2 and section 6",
		theirs: "ResNet, DenseNet and Inception v3, images of 224 pixels, batches of 32, times and sizes measured on a V100; link 12.5 GB/s.",
		ours: fmt.Sprintf(`the presets, times by a model of that V100; link 12.5 GB/s, one transfer at a time, whole transfers.
LB is Proposition 3: the sum of all times, or the time to move what is too much to the host and back. %d budgets
from the smallest that any of the methods can do with to keeping everything; every %dth is shown, all count in the claims.`, ratioBudgets, ratioShown),
		measure: measureOffloadRatio,
	}
}

// ratios are the results of the five methods on one network.
type ratios struct {
	net     *network
	budgets []engine.Bytes
	bounds  []time.Duration // LB at each budget
	grid    [][]*proto.Point
	above   []int          // budgets in which dynprog is not below paperRatio
	best    []*proto.Point // offloadsearch at these budgets
	fluid   []*proto.Point // dynprog with streamed transfers, which it was made for
}

// paperRatio is the ratio that dynprog stays below in the paper.
const paperRatio = 1.2

func measureOffloadRatio(l *lab, refs []string) *findings {
	var f findings
	all := each(&f, refs, l.ratios)
	f.sections = append(f.sections, ratioSummary(all))
	f.claims = ratioClaims(all)
	return &f
}

func (l *lab) ratios(ref string) *ratios {
	n := l.open(ref)
	by := methods(paperOffload...)
	least := l.smallest(n, by)
	r := &ratios{net: n, budgets: spread(least, n.keepAll.Peak, ratioBudgets)}
	for _, b := range r.budgets {
		lb, ok := bound.LB(n.problem(b))
		if !ok {
			cli.Fail("%s has no lower bound in %s", ref, format.Bytes(b))
		}
		r.bounds = append(r.bounds, lb)
	}
	r.grid = l.solve(n, by, r.budgets)
	var budgets []engine.Bytes
	for b := range r.budgets {
		if notBelow(r.grid[dynprogRow][b], r.bounds[b]) {
			r.above = append(r.above, b)
			budgets = append(budgets, r.budgets[b])
		}
	}
	r.best = l.solve(n, methods("offloadsearch"), budgets)[0]
	r.fluid = l.solve(n.streamed(), methods("dynprog"), r.budgets)[0]
	return r
}

// of returns the ratio of a method at a budget, or 0 where it has no schedule.
func (r *ratios) of(method, budget int) float64 {
	return float64(r.grid[method][budget].StepTime) / float64(r.bounds[budget])
}

func (r *ratios) section() string {
	return section(r.net.heading(), func(w *tabwriter.Writer) {
		fmt.Fprintf(w, "memory\tshare\tLB, ms\t%s\n", strings.Join(paperOffload, "\t"))
		for b := 0; b < len(r.budgets); b += ratioShown {
			fmt.Fprintf(w, "%s\t%s", r.net.memoryCells(r.budgets[b]), stepTime(r.bounds[b]))
			for m := range paperOffload {
				fmt.Fprintf(w, "\t%s", number(r.of(m, b), 3))
			}
			fmt.Fprintln(w)
		}
	})
}

// worst returns the largest ratio of a method, and the budget where that is.
func (r *ratios) worst(method int) (worst float64, at int) {
	for b := range r.budgets {
		if x := r.of(method, b); x > worst {
			worst, at = x, b
		}
	}
	return worst, at
}

// crossing returns the last budget at which moving takes longer than computing, where the two terms of LB are about
// equal. ok is false if computing takes longer at all budgets.
func (r *ratios) crossing() (at int, ok bool) {
	for b := len(r.budgets) - 1; b >= 0; b-- {
		if r.bounds[b] > r.net.keepAll.StepTime {
			return b, true
		}
	}
	return 0, false
}

func ratioSummary(all []*ratios) string {
	return section(fmt.Sprintf("Over all %d budgets: the largest ratio, and in how many a schedule fits\n",
		ratioBudgets), func(w *tabwriter.Writer) {
		fmt.Fprintf(w, "network\t%s\n", strings.Join(paperOffload, "\t"))
		for _, r := range all {
			fmt.Fprint(w, r.net.ref)
			for m := range paperOffload {
				worst, _ := r.worst(m)
				fits := 0
				for b := range r.budgets {
					if r.grid[m][b].StepTime > 0 {
						fits++
					}
				}
				fmt.Fprintf(w, "\t%s (%d)", number(worst, 3), fits)
			}
			fmt.Fprintln(w)
		}
	})
}

// The columns of paperOffload.
const (
	greedyRow = iota
	dynprogRow
	vdnnRow
	tflmsRow
	autoswapRow
)

func ratioClaims(all []*ratios) []claim {
	return []claim{
		belowClaim(all),
		compareRatios(all, dynprogRow, greedyRow,
			`"The DYNPROG approach obtains significantly better performance than GREEDY. The difference is small in many cases [...]" (section 6).`),
		compareRatios(all, greedyRow, vdnnRow,
			`"[...] both GREEDY and DYNPROG outperform the VDNN heuristic in all cases" (section 6); GREEDY:`),
		compareRatios(all, dynprogRow, vdnnRow, `The same; DYNPROG:`),
		tflmsClaim(all),
		autoswapClaim(all),
		spikeClaim(all),
	}
}

// belowClaim checks that dynprog stays below paperRatio. It also counts the budgets at which another set or other
// transfers would be faster.
func belowClaim(all []*ratios) claim {
	points, above, also, proven, fluid := 0, 0, 0, 0, 0
	var where []string
	for _, r := range all {
		for b, lb := range r.bounds {
			if r.grid[dynprogRow][b].StepTime > 0 {
				points++
			}
			if notBelow(r.fluid[b], lb) {
				fluid++
			}
		}
		for i, b := range r.above {
			if notBelow(r.best[i], r.bounds[b]) {
				also++
				if r.best[i].Optimal {
					proven++
				}
			}
		}
		above += len(r.above)
		worst, at := r.worst(dynprogRow)
		where = append(where, fmt.Sprintf("%s %s in %s (not below at %d)", r.net.ref, number(worst, 3),
			format.Bytes(r.budgets[at]), len(r.above)))
	}
	return claim{
		says: `"DYNPROG is able to consistently achieve a ratio below 1.2" (section 6).`,
		here: fmt.Sprintf(`below 1.2 at %d of %d budgets. Largest: %s. Of the %d budgets that are not below, %d are not below with the set of
offloadsearch either; for %d of those it is proven that no schedule is that offloads first and then fetches. With streamed transfers dynprog is not below at %d.`,
			points-above, points, strings.Join(where, "; "), above, also, proven, fluid),
		verdict: mostly(points-above, points),
	}
}

// notBelow reports whether a point has a schedule whose ratio is not below paperRatio.
func notBelow(p *proto.Point, lb time.Duration) bool {
	return float64(p.StepTime) >= paperRatio*float64(lb)
}

// compareRatios returns a claim that one method is faster than another, and never slower.
func compareRatios(all []*ratios, better, worse int, says string) claim {
	faster, equal, points := 0, 0, 0
	var gain mean
	for _, r := range all {
		for b := range r.budgets {
			x, y := r.grid[better][b].StepTime, r.grid[worse][b].StepTime
			if x == 0 && y == 0 {
				continue
			}
			points++
			switch {
			case x == y:
				equal++
			case y == 0 || x > 0 && x < y:
				faster++
			}
			if x > 0 && y > 0 {
				gain.add(float64(y)/float64(x) - 1)
			}
		}
	}
	v := mostly(faster+equal, points)
	if faster == 0 {
		v = differs
	}
	return claim{
		says: says,
		here: fmt.Sprintf("%s is faster than %s at %d, as fast at %d, slower at %d of %d budgets; %s takes %s on average.",
			paperOffload[better], paperOffload[worse], faster, equal, points-faster-equal, points,
			paperOffload[worse], perCent(gain.value())),
		verdict: v,
	}
}

// tflmsClaim checks that TFLMS is optimal if memory is large, and does not fit if memory is small.
func tflmsClaim(all []*ratios) claim {
	fits, optimal, points := 0, 0, 0
	least := math.Inf(1)
	for _, r := range all {
		for b := range r.budgets {
			points++
			if r.grid[tflmsRow][b].StepTime == 0 {
				continue
			}
			fits++
			least = min(least, float64(r.budgets[b])/float64(r.net.keepAll.Peak))
			if r.grid[tflmsRow][b].StepTime == r.bounds[b] {
				optimal++
			}
		}
	}
	return claim{
		says: `TFLMS "is able to obtain optimal makespan for the highest memory limit values. But it [...] can not adapt to low memory settings" (section 6).`,
		here: fmt.Sprintf("it fits at %d of %d budgets, none below %s of keeping everything, and reaches LB at %d of them.",
			fits, points, format.Share(least), optimal),
		verdict: holds(optimal > 0 && fits < points),
	}
}

func autoswapClaim(all []*ratios) claim {
	same, points := 0, 0
	var ratio mean
	for _, r := range all {
		for b := range r.budgets {
			x, y := r.grid[autoswapRow][b].StepTime, r.grid[greedyRow][b].StepTime
			if x == 0 || y == 0 {
				continue
			}
			points++
			if x == y {
				same++
			}
			ratio.add(float64(x)/float64(y) - 1)
		}
	}
	return claim{
		says: `"AUTOSWAP often produces the same solution as the GREEDY algorithm" (section 6).`,
		here: fmt.Sprintf("the same step time at %d of %d budgets (seed 1; a third of them counts as often); its step time is %s against greedy's on average.",
			same, points, perCent(ratio.value())),
		verdict: holds(3*same >= points), // often means at a third of the budgets
	}
}

// spikeClaim checks that the ratio is worst near the budget at which the two terms of LB are equal. Near means
// within a tenth of the budgets.
func spikeClaim(all []*ratios) claim {
	near, crossed := 0, 0
	var parts []string
	for _, r := range all {
		worst, at := r.worst(greedyRow)
		text := fmt.Sprintf("%s %s in %s, ", r.net.ref, number(worst, 3), format.Bytes(r.budgets[at]))
		if cross, ok := r.crossing(); ok {
			crossed++
			text += "equal in " + format.Bytes(r.budgets[cross])
			if d := at - cross; d*d <= (ratioBudgets/10)*(ratioBudgets/10) {
				near++
			}
		} else {
			text += "nowhere equal"
		}
		parts = append(parts, text)
	}
	return claim{
		says:    `The spike of GREEDY is where "both terms of the lower bound LB are almost equal" (section 6).`,
		here:    fmt.Sprintf("greedy's largest ratio, and where the terms are equal: %s. Within a tenth of the range for %d of %d networks where they are.", strings.Join(parts, "; "), near, crossed),
		verdict: mostly(near, crossed),
	}
}
