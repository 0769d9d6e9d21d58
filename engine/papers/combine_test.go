//go:build !js

package papers

import (
	"fmt"
	"memtide/engine/combined"
	"memtide/engine/remat"
	"strings"
	"text/tabwriter"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// combineBudgets is the number of budgets of the comparison with POFO.
const combineBudgets = 20

func combination() *experiment {
	return &experiment{
		name:  combined.Pofo.Name,
		title: "Recomputing and offloading together: step time against memory",
		source: `Beaumont, Eyraud-Dubois and Shilova: Efficient Combination of Rematerialization and Offloading for Training DNNs.
NeurIPS 2021 (no doi; papers.nips.cc, c8461bf13fca8a2b9912ab2eb1668e4b), abstract and supplement`,
		theirs: `"realistic networks and computation platforms"; memory in 50 slots, transfers byte by byte.`,
		ours: fmt.Sprintf(`the presets, times by a model of a V100; link 12.5 GB/s, one transfer at a time, sizes in exact bytes. Transfers are
whole, but in the column "streamed", which has the paper's model. Offloading alone is the fastest of %s.
Budgets are 1/%d, 2/%d ... of what keeping everything takes above what stays throughout; the factor is by how much that is
reduced. Step times in ms, overhead over keeping everything; removed is the part of rotor's overhead that pofo does
without.`, strings.Join(anyOffload, ", "), combineBudgets, combineBudgets),
		measure: measureCombination,
	}
}

// trio holds the results of recomputing, offloading and both on one network.
type trio struct {
	net     *network
	budgets []engine.Bytes
	rotor   []*proto.Point
	pofo    []*proto.Point
	model   []*proto.Point  // pofo with streamed transfers
	offload []time.Duration // the step time of the fastest method; 0 if nothing fits
}

func measureCombination(l *lab, refs []string) *findings {
	var f findings
	all := each(&f, refs, l.trio)
	f.claims = []claim{overheadClaim(all), factorClaim(all), neverWorseClaim(all)}
	return &f
}

func (l *lab) trio(ref string) *trio {
	n := l.open(ref)
	s := &trio{net: n}
	for i := int64(1); i <= combineBudgets; i++ {
		s.budgets = append(s.budgets, n.activations(i, combineBudgets))
	}
	grid := l.solve(n, methods(append([]string{remat.Rotor.Name, combined.Pofo.Name}, anyOffload...)...), s.budgets)
	s.rotor, s.pofo = grid[0], grid[1]
	model := l.solve(n.streamed(), methods(combined.Pofo.Name), s.budgets)
	s.model = model[0]
	for b := range s.budgets {
		s.offload = append(s.offload, fastest(grid[2:], b))
	}
	return s
}

// overhead returns how much longer a step takes than without a limit.
func (s *trio) overhead(d time.Duration) float64 {
	return float64(d)/float64(s.net.keepAll.StepTime) - 1
}

// overheadCell returns a step time and its overhead.
func (s *trio) overheadCell(d time.Duration) string {
	if d == 0 {
		return "–\t–"
	}
	return stepTime(d) + "\t" + perCent(s.overhead(d))
}

// factor returns the factor by which budget b reduces the memory of the activations.
func (s *trio) factor(b int) float64 { return float64(combineBudgets) / float64(b+1) }

// removed returns the part of rotor's overhead that a point avoids. ok is false if rotor does not fit or has no
// overhead.
func (s *trio) removed(by *proto.Point, b int) (part float64, ok bool) {
	if s.rotor[b].StepTime <= s.net.keepAll.StepTime {
		return 0, false
	}
	return 1 - s.overhead(by.StepTime)/s.overhead(s.rotor[b].StepTime), true
}

func (s *trio) section() string {
	return section(s.net.heading(), func(w *tabwriter.Writer) {
		fmt.Fprint(w, "memory\tshare\tfactor\trotor\toverhead\toffload\toverhead\tpofo\toverhead\tremoved\tstreamed\toverhead\n")
		for b, budget := range s.budgets {
			part := "–"
			if x, ok := s.removed(s.pofo[b], b); ok {
				part = format.Share(x)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.net.memoryCells(budget), number(s.factor(b), 1),
				s.overheadCell(s.rotor[b].StepTime), s.overheadCell(s.offload[b]), s.overheadCell(s.pofo[b].StepTime),
				part, s.overheadCell(s.model[b].StepTime))
		}
	})
}

func overheadClaim(all []*trio) claim {
	var total, model mean
	var parts []string
	for _, s := range all {
		var m mean
		for b := range s.budgets {
			if x, ok := s.removed(s.pofo[b], b); ok {
				m.add(x)
				total.add(x)
				y, _ := s.removed(s.model[b], b)
				model.add(y)
			}
		}
		parts = append(parts, fmt.Sprintf("%s %s of %d budgets", s.net.ref, format.Share(m.value()), m.n))
	}
	return claim{
		says: `"[...] the possibility to offload can remove one third of the overhead of rematerialization" (abstract).`,
		here: fmt.Sprintf("%s of it, the arithmetic mean over all budgets in which recomputation fits and costs something; by network, %s. With streamed transfers %s.",
			format.Share(total.value()), strings.Join(parts, "; "), format.Share(model.value())),
		verdict: upTo(total.value(), 1.0/3),
	}
}

// largestFactor returns the largest factor of the table by which the memory of the activations can be reduced
// with an overhead below a fifth.
func (s *trio) largestFactor(points []*proto.Point) float64 {
	for b, p := range points {
		if p.StepTime > 0 && s.overhead(p.StepTime) < 0.2 {
			return s.factor(b)
		}
	}
	return 0
}

func factorClaim(all []*trio) claim {
	within := 0
	var parts []string
	for _, s := range all {
		best := s.largestFactor(s.pofo)
		if best >= 4 {
			within++
		}
		parts = append(parts, fmt.Sprintf("%s %s (streamed %s)", s.net.ref, number(best, 1),
			number(s.largestFactor(s.model), 1)))
	}
	return claim{
		says:    `"[...] together they can reduce the memory used for activations by a factor 4 to 6, with an overhead below 20%" (abstract).`,
		here:    fmt.Sprintf("the largest factor of the table with such an overhead: %s. At least 4 for %d of %d networks.", strings.Join(parts, ", "), within, len(all)),
		verdict: mostly(within, len(all)),
	}
}

func neverWorseClaim(all []*trio) claim {
	points, rotor, offload := 0, 0, 0
	worst := 0.0
	for _, s := range all {
		for b, p := range s.pofo {
			if p.StepTime == 0 {
				continue
			}
			points++
			if r := s.rotor[b].StepTime; r == 0 || p.StepTime <= r {
				rotor++
			}
			if o := s.offload[b]; o == 0 || p.StepTime <= o {
				offload++
			} else {
				worst = max(worst, float64(p.StepTime)/float64(o)-1)
			}
		}
	}
	here := fmt.Sprintf("no slower than rotor at %d of %d budgets, no slower than the fastest offloading at %d",
		rotor, points, offload)
	if worst > 0 {
		here += fmt.Sprintf("; where it is slower, by %s at most", perCent(worst))
	}
	return claim{
		says:    "The combination is \"solved optimally\" (supplement, Theorem 1), and recomputation alone is a special case of it.",
		here:    here + ".",
		verdict: mostly(rotor, points),
	}
}
