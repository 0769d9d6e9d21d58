//go:build !js

package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"memtide/web/format"
)

// swapClaims returns the claims of the window paper about its table 1. Those about ResNet-50 alone are checked on
// ResNet-50 if it is among the networks, and otherwise on all of them.

func swapClaims(all []*swapped) []claim {
	i := slices.IndexFunc(all, func(s *swapped) bool { return s.ref == oneByOne })
	var separate *swapped
	if i >= 0 {
		separate = all[i]
		all = slices.Delete(slices.Clone(all), i, i+1)
	}
	own := all
	for _, s := range all {
		if strings.HasPrefix(s.ref, "resnet50-b") {
			own = []*swapped{s}
		}
	}
	return []claim{
		plainClaim(own),
		reachClaim(own, lmsRow, `LMS "successfully train[s] ResNet50 with 4.9 times larger batch-size": 928 (section 2 and table 1).`, 928),
		reachClaim(own, bestFitRow,
			`"scheduling alone cannot train larger model than 928 batch size as well as Le's method", for fragmentation (section 5.1).`, 928),
		separately(separate, reachClaim(own, virtualRow,
			`"[...] we successfully train ResNet-50 with 1440 batch-size [...], which is 7.5x larger than the upper bound of physical memory" (abstract).`, 1440)),
		beyondClaim(all),
		fasterClaim(all),
		keptClaim(own),
		chunkClaim(all),
	}
}

// separately adds to a claim about virtual addresses the result in the other reading of the paper. If that agrees, the
// claim agrees in part.
func separately(s *swapped, c claim) claim {
	if s == nil {
		return c
	}
	got, plain := s.rows[piecesRow].largest, s.rows[keepRow].largest
	c.here += fmt.Sprintf(" With every operator a function of its own and small buffers in pieces of 2 MiB it trains %d of at most %d, and %d without swapping.",
		got, s.rows[windowRow].largest, plain)
	if c.verdict == differs && closeTo(float64(got)/float64(max(plain, 1)), 1440.0/paperPlain) == agrees {
		c.verdict = partly
	}
	return c
}

func plainClaim(own []*swapped) claim {
	s := own[0]
	got := s.rows[keepRow].largest
	return claim{
		says:    fmt.Sprintf("%d is the largest batch that trains without swapping (table 1).", paperPlain),
		here:    fmt.Sprintf("%s: %d in %s.", s.ref, got, format.Bytes(s.device.Memory)),
		verdict: closeTo(float64(got), paperPlain),
	}
}

func reachClaim(own []*swapped, row int, says string, paper int) claim {
	s := own[0]
	got, plain := s.rows[row].largest, s.rows[keepRow].largest
	here := fmt.Sprintf("%s: %s trains %d, %s times as many as without swapping (%d).", s.ref, s.rows[row].name, got,
		number(float64(got)/float64(max(plain, 1)), 1), plain)
	if row == virtualRow {
		here += fmt.Sprintf(" In chunks of 2 MiB it trains %d, and %d if nothing were lost at the ends of chunks: with one more, %s.",
			s.rows[smallRow].largest, s.rows[windowRow].largest, s.rows[windowRow].tightest)
	}
	return claim{says: says, here: here,
		verdict: closeTo(float64(got)/float64(max(plain, 1)), float64(paper)/paperPlain)}
}

// beyondClaim checks that larger batches fit with virtual addresses than in one pool.
func beyondClaim(all []*swapped) claim {
	further, finer := 0, 0
	var parts []string
	for _, s := range all {
		fit, va, small, exact := s.rows[bestFitRow].largest, s.rows[virtualRow].largest, s.rows[smallRow].largest,
			s.rows[windowRow].largest
		if va > fit {
			further++
		}
		if small > fit {
			finer++
		}
		parts = append(parts, fmt.Sprintf("%s %d, %d and %d (%d if nothing were lost)", s.ref, fit, va, small, exact))
	}
	return claim{
		says: `"[...] VA drastically reduces fragmentation": 1440 with it, 928 without (section 5.1).`,
		here: fmt.Sprintf("largest batch with best fit, with VA and with VA in chunks of 2 MiB: %s. VA reaches further on %d of %d networks, in small chunks on %d.",
			strings.Join(parts, "; "), further, len(all), finer),
		verdict: mostly(further, len(all)),
	}
}

// fasterClaim checks that the window is never slower than large model support.
func fasterClaim(all []*swapped) claim {
	faster, equal, cases := 0, 0, 0
	var gain mean
	for _, s := range all {
		for i, p := range s.rows[lmsRow].points {
			w := s.rows[windowRow].points[i]
			if p.StepTime == 0 && w.StepTime == 0 {
				continue
			}
			cases++
			switch {
			case p.StepTime == w.StepTime:
				equal++
			case p.StepTime == 0 || w.StepTime > 0 && w.StepTime < p.StepTime:
				faster++
			}
			if p.StepTime > 0 && w.StepTime > 0 {
				gain.add(float64(p.StepTime)/float64(w.StepTime) - 1)
			}
		}
	}
	return claim{
		says: `The schedule "outperforms Le's algorithm": 457 to 209 images/s at 512, 400 to 137 at 928 (table 1; on different GPUs).`,
		here: fmt.Sprintf("on the same device, sizes in exact bytes, window is faster than lms at %d, as fast at %d, slower at %d of %d batches; lms takes %s on average.",
			faster, equal, cases-faster-equal, cases, perCent(gain.value())),
		verdict: mostly(faster+equal, cases),
	}
}

// keptClaim checks the share of the speed that is left at two batches of the table. For other networks it takes
// the batches in the same columns.
func keptClaim(own []*swapped) claim {
	s := own[0]
	paper := []struct {
		row, batch int
		share      float64
	}{{lmsRow, 928, 0.53}, {windowRow, 928, 0.68}, {virtualRow, 1440, 0.55}}
	v, kept := agrees, make([]float64, len(paper))
	var parts []string
	for i, x := range paper {
		at := slices.Index(paperBatches, x.batch)
		kept[i] = s.kept(x.row, at)
		if math.Abs(kept[i]-x.share) > near {
			v = differs
		}
		parts = append(parts, fmt.Sprintf("%s %s at %d", s.rows[x.row].name, s.keptCell(x.row, at), s.batches[at]))
	}
	if v == differs && kept[1] > kept[0] {
		v = partly // only the order of the numbers agrees: the window keeps more
	}
	here := fmt.Sprintf("of the best speed without swapping, %s: %s.", s.ref, strings.Join(parts, ", "))
	if at := s.largestCommon(); at >= 0 {
		var parts []string
		for _, row := range []int{lmsRow, windowRow, bestFitRow, virtualRow} {
			parts = append(parts, s.rows[row].name+" "+s.keptCell(row, at))
		}
		here += fmt.Sprintf(" At %d, the largest batch of the table that all of them train: %s.", s.batches[at],
			strings.Join(parts, ", "))
	}
	return claim{
		says:    `"Our schedule can keep training speed at 68% at 928 batch size, while Le's method performs at 53%"; 55 % with VA at 1440 (section 5.1, abstract).`,
		here:    here,
		verdict: v,
	}
}

// kept returns the share of the best speed without swapping that a method has at a batch, or 0 if the batch does
// not train.
func (s *swapped) kept(row, at int) float64 {
	return s.rows[row].points[at].Throughput() / s.rows[keepRow].best()
}

func (s *swapped) keptCell(row, at int) string {
	if s.rows[row].points[at].StepTime == 0 {
		return "does not train"
	}
	return format.Share(s.kept(row, at))
}

// largestCommon returns the index of the largest batch that every method but keepall trains, or -1.
func (s *swapped) largestCommon() int {
	for at := len(s.batches) - 1; at >= 0; at-- {
		if !slices.ContainsFunc(s.rows[lmsRow:], func(r *swapRow) bool { return r.points[at].StepTime == 0 }) {
			return at
		}
	}
	return -1
}

// chunkClaim checks that chunks cost speed, because many small buffers do not fill them.
func chunkClaim(all []*swapped) claim {
	slower, cases := 0, 0
	for _, s := range all {
		for i, p := range s.rows[keepRow].points {
			va := s.rows[virtualRow].points[i]
			if p.StepTime == 0 || va.StepTime == 0 {
				continue
			}
			cases++
			if va.Throughput() < p.Throughput() {
				slower++
			}
		}
	}
	return claim{
		says: "With VA, training is slower than without swapping at every batch that trains without: 304 to 336, 389 to 492, 415 to 581 (table 1).",
		here: fmt.Sprintf("slower at %d of %d batches. What it costs to map chunks is not in the model; only the room at their ends is.",
			slower, cases),
		verdict: mostly(slower, cases),
	}
}
