//go:build !js

package papers

import (
	"fmt"
	"math"
	"memtide/engine/remat"
	"strings"
	"text/tabwriter"

	"memtide/engine"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// recomputeLimits is the number of memory limits of rotor and revolve, as in the paper.
const recomputeLimits = 10

// batchFactors are the batch sizes of the average, as multiples of half the preset's batch.
var batchFactors = []int{1, 2, 4, 8}

func recomputeThroughput() *experiment {
	return &experiment{
		name:  "rotor-figs3-5",
		title: "Recomputing: throughput against peak memory",
		source: `Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova: Optimal checkpointing for heterogeneous chains: how to train deep
neural networks with limited memory. arXiv:1911.13214, figures 3 to 5 and section 5`,
		theirs: "ResNet, DenseNet and Inception v3, images of 224, 500 and 1000 pixels, several batch sizes, run on a V100.",
		ours: fmt.Sprintf(`the presets (images of 224 pixels), times by a model of that V100, peaks by the simulator in exact bytes.
Sequential has 2 to 2 sqrt(L) segments; rotor and revolve have %d limits, equally spaced up to what keeping everything
takes, counted above what stays on the device throughout. Throughput in samples/s; shares are of keeping everything.`, recomputeLimits),
		measure: measureRecompute,
	}
}

// segments are the results of sequential on one network, and of the other methods in the memory that it uses.
type segments struct {
	net     *network
	counts  []int
	points  []*proto.Point // sequential, by counts
	rotor   []*proto.Point // with the peak of that point as budget
	revolve []*proto.Point
}

func measureRecompute(l *lab, refs []string) *findings {
	var f findings
	var main, all []*segments
	var limited []*limits
	for _, ref := range refs {
		s := l.segments(ref)
		lim := l.limits(s.net)
		f.sections = append(f.sections, s.section(), lim.section())
		main, limited = append(main, s), append(limited, lim)
	}
	for _, ref := range batches(refs) {
		all = append(all, l.segments(ref))
	}
	f.sections = append(f.sections, gainSection(all))
	f.claims = []claim{gainClaim(all), twoSegmentsClaim(all), samePeakClaim(all), revolveClaim(main),
		memoryClaim(limited)}
	return &f
}

// batches returns the presets at several batch sizes around the given ones.
func batches(refs []string) []string {
	var out []string
	for _, ref := range refs {
		p, batch := parsed(ref)
		for _, k := range batchFactors {
			if b := batch * k / 2; b >= 1 && b <= preset.MaxBatch {
				out = append(out, preset.Ref(p.ID, b))
			}
		}
	}
	return out
}

func (l *lab) segments(ref string) *segments {
	n := l.open(ref)
	s := &segments{net: n}
	var by []proto.Method
	layers := n.chain.Len() - 1 // L in the paper, which does not count the loss
	for k := 2; k <= int(2*math.Sqrt(float64(layers))); k++ {
		s.counts = append(s.counts, k)
		by = append(by, segmented(k))
	}
	grid := l.solve(n, by, []engine.Bytes{2 * n.keepAll.Peak})
	var peaks []engine.Bytes
	for _, row := range grid {
		s.points = append(s.points, row[0])
		peaks = append(peaks, row[0].Peak)
	}
	grid = l.solve(n, methods(remat.Rotor.Name, "revolve"), peaks)
	s.rotor, s.revolve = grid[0], grid[1]
	return s
}

// gain returns by how much rotor's throughput is higher, in the memory of a segmentation.
func (s *segments) gain(i int) float64 {
	return float64(s.points[i].StepTime)/float64(s.rotor[i].StepTime) - 1
}

// best returns the segmentation with the highest throughput, the first of equal ones.
func (s *segments) best() int {
	best := 0
	for i, p := range s.points {
		if p.StepTime < s.points[best].StepTime {
			best = i
		}
	}
	return best
}

func (s *segments) samples(p *proto.Point) string {
	if p.StepTime == 0 {
		return "–"
	}
	return number(s.net.throughput(p.StepTime), 1)
}

func (s *segments) section() string {
	heading := s.net.heading() +
		fmt.Sprintf("keepall: %s samples/s. Sequential, and the others in the same memory:\n",
			number(s.net.throughput(s.net.keepAll.StepTime), 1))
	return section(heading, func(w *tabwriter.Writer) {
		fmt.Fprint(w, "segments\tpeak\tshare\tsequential\trotor\tgain\trevolve\n")
		for i, k := range s.counts {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", k, s.net.memoryCells(s.points[i].Peak),
				s.samples(s.points[i]), s.samples(s.rotor[i]), perCent(s.gain(i)), s.samples(s.revolve[i]))
		}
	})
}

// limits are the results of rotor and revolve with memory limits.
type limits struct {
	net     *network
	budgets []engine.Bytes
	rotor   []*proto.Point
	revolve []*proto.Point
}

func (l *lab) limits(n *network) *limits {
	s := &limits{net: n}
	for i := int64(1); i <= recomputeLimits; i++ {
		s.budgets = append(s.budgets, n.activations(i, recomputeLimits))
	}
	grid := l.solve(n, methods(remat.Rotor.Name, "revolve"), s.budgets)
	s.rotor, s.revolve = grid[0], grid[1]
	return s
}

func (s *limits) section() string {
	return section(s.net.ref+", by limits:\n", func(w *tabwriter.Writer) {
		fmt.Fprint(w, "limit\tshare\trotor's peak\trotor\trevolve's peak\trevolve\n")
		for i, b := range s.budgets {
			fmt.Fprint(w, s.net.memoryCells(b))
			for _, p := range []*proto.Point{s.rotor[i], s.revolve[i]} {
				if p.StepTime == 0 {
					fmt.Fprint(w, "\t–\t–")
					continue
				}
				fmt.Fprintf(w, "\t%s\t%s", format.Bytes(p.Peak), number(s.net.throughput(p.StepTime), 1))
			}
			fmt.Fprintln(w)
		}
	})
}

// averageGain returns the paper's figure: the mean over all settings of the ratio of
// rotor's throughput to the highest of sequential, in the same memory, less 1.
func averageGain(all []*segments) float64 {
	var m mean
	for _, s := range all {
		m.add(s.gain(s.best()))
	}
	return m.value()
}

func gainSection(all []*segments) string {
	return section("All settings of the average: the fastest segmentation, and rotor in its memory\n",
		func(w *tabwriter.Writer) {
			fmt.Fprint(w, "setting\tsegments\tpeak\tshare\tsequential\trotor\tgain\n")
			for _, s := range all {
				i := s.best()
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\n", s.net.ref, s.counts[i], s.net.memoryCells(s.points[i].Peak),
					s.samples(s.points[i]), s.samples(s.rotor[i]), perCent(s.gain(i)))
			}
			fmt.Fprintf(w, "mean\t\t\t\t\t\t%s\n", perCent(averageGain(all)))
		})
}

func gainClaim(all []*segments) claim {
	const theirs = 0.172
	gain := averageGain(all)
	byBest := gainsByPreset(all, func(s *segments, add func(float64)) { add(s.gain(s.best())) })
	return claim{
		says: `"To summarize, we also compute the ratio between the highest throughput obtained by sequential and the throughput achieved by optimal with the corresponding memory usage. On average over all tested sets of parameters, optimal achieves 17.2% higher throughput" (section 5.4).`,
		here: fmt.Sprintf("%s: the arithmetic mean over the %d settings above of rotor's throughput in the peak of the fastest segmentation, over the throughput of that, less 1. By network: %s.",
			perCent(gain), len(all), byBest),
		verdict: meanOf(gain, theirs),
	}
}

func twoSegmentsClaim(all []*segments) claim {
	two := 0
	for _, s := range all {
		if s.counts[s.best()] == 2 {
			two++
		}
	}
	return claim{
		says:    `"For every batch size, the best throughput is reached when the number of segments is equal to 2" (section 5.4, ResNet-101).`,
		here:    fmt.Sprintf("in %d of %d settings.", two, len(all)),
		verdict: mostly(two, len(all)),
	}
}

// gainsByPreset returns, for each preset, the mean over the batch sizes of the numbers that each adds.
func gainsByPreset(all []*segments, each func(s *segments, add func(float64))) string {
	by := map[string]*mean{}
	var order []string
	for _, s := range all {
		p, _ := parsed(s.net.ref)
		if by[p.ID] == nil {
			by[p.ID] = &mean{}
			order = append(order, p.ID)
		}
		each(s, by[p.ID].add)
	}
	var parts []string
	for _, id := range order {
		parts = append(parts, id+" "+perCent(by[id].value()))
	}
	return strings.Join(parts, ", ")
}

func samePeakClaim(all []*segments) claim {
	const theirs = 0.15
	var total mean
	parts := gainsByPreset(all, func(s *segments, add func(float64)) {
		for i := range s.counts {
			add(s.gain(i))
			total.add(s.gain(i))
		}
	})
	return claim{
		says:    `"[...] for a given memory peak, the optimal strategy outperforms the sequential strategy by 15% on average" (section 5.4, ResNet-101 with images of 1000 pixels).`,
		here:    fmt.Sprintf("over all numbers of segments and batch sizes %s: %s.", perCent(total.value()), parts),
		verdict: meanOf(total.value(), theirs),
	}
}

// revolveClaim compares the throughputs in the memory of the fastest segmentation.
func revolveClaim(all []*segments) claim {
	lower := 0
	var parts []string
	for _, s := range all {
		i := s.best()
		x := s.revolve[i]
		if x.StepTime > s.points[i].StepTime && x.StepTime > s.rotor[i].StepTime {
			lower++
		}
		if x.StepTime > 0 {
			parts = append(parts, fmt.Sprintf("%s %s against sequential, %s against rotor", s.net.ref,
				perCent(float64(s.points[i].StepTime)/float64(x.StepTime)-1),
				perCent(float64(s.rotor[i].StepTime)/float64(x.StepTime)-1)))
		}
	}
	return claim{
		says: `Revolve "requires to compute each forward operation at least twice [...], which incurs a much lower throughput than both other solutions" (section 5.4).`,
		here: fmt.Sprintf("in the memory of the fastest segmentation revolve's throughput is: %s.",
			strings.Join(parts, "; ")),
		verdict: mostly(lower, len(all)),
	}
}

// memoryClaim checks that revolve's peak stays below the largest limit by more than rotor's.
func memoryClaim(all []*limits) claim {
	below := 0
	var parts []string
	for _, s := range all {
		last := recomputeLimits - 1
		peak := s.revolve[last].Peak
		if peak < s.rotor[last].Peak {
			below++
		}
		parts = append(parts, fmt.Sprintf("%s %s of %s", s.net.ref, format.Bytes(peak), format.Bytes(s.budgets[last])))
	}
	return claim{
		says: `Revolve "is unable to make use of larger memory sizes" (section 5.4).`,
		here: fmt.Sprintf("with the memory of keeping everything, revolve's peak is: %s.",
			strings.Join(parts, "; ")),
		verdict: mostly(below, len(all)),
	}
}
