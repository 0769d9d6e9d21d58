//go:build !js

package papers

import (
	"fmt"
	"memtide/engine/remat"
	"strings"
	"text/tabwriter"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// linkBudgets is the number of budgets of the comparison of links.
const linkBudgets = 13

// links are the bandwidths of the comparison, in halves of the paper's bandwidth. Those in shownLinks have a
// column in the tables.
var (
	links      = []int64{1, 2, 3, 4, 5, 6, 8, 12}
	shownLinks = []int64{once, twice, thrice, 8}
)

// Multiples of the paper's bandwidth, in halves of it.
const (
	once   = 2
	twice  = 4
	thrice = 6
)

func halves(h int64) engine.Rate { return paperLink * engine.Rate(h) / 2 }

func offloadOrRecompute() *experiment {
	return &experiment{
		name:   "offload-fig3",
		title:  "Offloading or recomputing: throughput against memory, for several links",
		source: offloadPaper + ", figure 3 and section 6",
		theirs: "images of 224 pixels, batches of 32, times and sizes measured on a V100; the optimal recomputation is rotor's.",
		ours: fmt.Sprintf(`the presets, times by a model of that V100; one transfer at a time, whole transfers. Offloading is the
fastest of %s. Throughput in samples/s.
"from" is the slowest link of %s GB/s from which on offloading is at least as fast;
%d budgets from the smallest that anything can do with to keeping everything.`, strings.Join(anyOffload, ", "), linkList(), linkBudgets),
		measure: measureLinks,
	}
}

func linkList() string {
	var out []string
	for _, q := range links {
		out = append(out, gigabytes(halves(q)))
	}
	return strings.Join(out, ", ")
}

// gigabytes returns a bandwidth in GB/s.
func gigabytes(r engine.Rate) string { return strings.TrimSuffix(format.Rate(r), " GB/s") }

// race holds the results of offloading and recomputing on one network.
type race struct {
	net     *network
	budgets []engine.Bytes
	least   engine.Bytes             // the smallest budget for offloading
	rotor   []*proto.Point           // by budget
	offload map[int64][]*proto.Point // by link and budget: the fastest point, or nil
}

func measureLinks(l *lab, refs []string) *findings {
	var f findings
	all := each(&f, refs, l.race)
	f.claims = []claim{slowLinkClaim(all), fastLinkClaim(all)}
	return &f
}

func (l *lab) race(ref string) *race {
	n := l.open(ref)
	r := &race{net: n, offload: map[int64][]*proto.Point{}}
	least := l.smallest(n, methods(remat.Rotor.Name))
	r.least = l.smallest(n, methods(anyOffload...))
	r.budgets = spread(min(least, r.least), n.keepAll.Peak, linkBudgets)
	r.rotor = l.solve(n, methods(remat.Rotor.Name), r.budgets)[0]
	for _, q := range links {
		grid := l.solve(n.over(halves(q)), methods(anyOffload...), r.budgets)
		best := make([]*proto.Point, linkBudgets)
		for b := range best {
			for _, row := range grid {
				if p := row[b]; p.StepTime > 0 && (best[b] == nil || p.StepTime < best[b].StepTime) {
					best[b] = p
				}
			}
		}
		r.offload[q] = best
	}
	return r
}

// wins reports whether offloading over a link is at least as fast as recomputing.
func (r *race) wins(q int64, b int) bool {
	p := r.offload[q][b]
	return p != nil && (r.rotor[b].StepTime == 0 || p.StepTime <= r.rotor[b].StepTime)
}

// from returns the slowest link such that offloading wins over it and over all faster links.
func (r *race) from(b int) string {
	if r.offload[links[0]][b] == nil {
		return "does not fit"
	}
	slowest := "none"
	for i := len(links) - 1; i >= 0 && r.wins(links[i], b); i-- {
		slowest = gigabytes(halves(links[i]))
	}
	return slowest
}

func (r *race) section() string {
	return section(r.net.heading(), func(w *tabwriter.Writer) {
		fmt.Fprint(w, "memory\tshare\trotor")
		for _, q := range shownLinks {
			fmt.Fprintf(w, "\toffload at %s GB/s", gigabytes(halves(q)))
		}
		fmt.Fprint(w, "\tfrom, GB/s\n")
		for b, budget := range r.budgets {
			fmt.Fprintf(w, "%s\t%s", r.net.memoryCells(budget), r.samples(r.rotor[b]))
			for _, q := range shownLinks {
				fmt.Fprintf(w, "\t%s", r.samples(r.offload[q][b]))
			}
			fmt.Fprintf(w, "\t%s\n", r.from(b))
		}
	})
}

// samples returns the throughput of a point, or a dash.
func (r *race) samples(p *proto.Point) string {
	if p == nil || p.StepTime == 0 {
		return "–"
	}
	return number(r.net.throughput(p.StepTime), 1)
}

// contested is the number of budgets that claims are about. The last budget keeps everything, so there is nothing
// to compare.
const contested = linkBudgets - 1

// slowLinkClaim checks that recomputing wins over the paper's link unless memory is large.
func slowLinkClaim(all []*race) claim {
	agree := 0
	var parts []string
	for _, r := range all {
		from := contested // from here on offloading always wins
		for from > 0 && r.wins(once, from-1) {
			from--
		}
		lost, alone, early := 0, 0, 0
		var slower mean
		for b := range from {
			switch p := r.offload[once][b]; {
			case r.rotor[b].StepTime == 0:
				alone++
			case r.wins(once, b):
				early++
			default:
				lost++
				if p != nil {
					slower.add(float64(p.StepTime)/float64(r.rotor[b].StepTime) - 1)
				}
			}
		}
		if early == 0 && 2*lost > contested {
			agree++
		}
		text := fmt.Sprintf("%s recomputing wins at %d of %d budgets", r.net.ref, lost, contested)
		if slower.n > 0 {
			text += fmt.Sprintf(" (where both fit, offloading takes %s)", perCent(slower.value()))
		}
		if alone > 0 {
			text += fmt.Sprintf(", at %d only offloading fits", alone)
		}
		if from < contested {
			text += ", offloading wins from " +
				format.Share(float64(r.budgets[from])/float64(r.net.keepAll.Peak)) + " on"
		}
		parts = append(parts, text)
	}
	return claim{
		says:    `"[...] for the bandwidth measured on our hardware, the rematerialization is significantly more interesting, except for the higher memory limits" (section 6).`,
		here:    strings.Join(parts, "; ") + ".",
		verdict: mostly(agree, len(all)),
	}
}

// fastLinkClaim checks that with two or three times the bandwidth, offloading is optimal over a wide range. A
// wide range is half of the budgets in which offloading fits at all.
func fastLinkClaim(all []*race) claim {
	wide := 0
	var parts []string
	for _, r := range all {
		fits := 0
		optimal := map[int64]int{}
		for b := range contested {
			if r.budgets[b] < r.least {
				continue
			}
			fits++
			for _, q := range shownLinks {
				// Optimal means within a hundredth of the step time without a limit.
				if d := r.offload[q][b].StepTime; 100*(d-r.net.keepAll.StepTime) <= r.net.keepAll.StepTime {
					optimal[q]++
				}
			}
		}
		if 2*optimal[thrice] >= fits {
			wide++
		}
		parts = append(parts, fmt.Sprintf("%s %d, %d, %d and %d of %d", r.net.ref, optimal[once], optimal[twice],
			optimal[thrice], optimal[8], fits))
	}
	return claim{
		says: `"[...] if the bandwidth is two or three times larger, the interest of offloading becomes significant, allowing to perform at optimal throughput over a wide range of memory limits" (section 6).`,
		here: fmt.Sprintf("budgets in which offloading fits and is within 1 %% of the optimal throughput, at once, twice, three and four times the bandwidth: %s. At three times it is at least half of them for %d of %d networks.",
			strings.Join(parts, "; "), wide, len(all)),
		verdict: mostly(wide, len(all)),
	}
}
