//go:build !js

package papers

import (
	"fmt"
	"math"
	"strings"

	"memtide/web/format"
)

func pinnedClaims(pinned []beside, peaks []peakRow) []claim {
	var slow, fast []beside // memory- and performance-optimal convolutions
	var pools []peakRow
	for _, r := range peaks {
		if r.algo == "m" {
			slow = append(slow, r.beside)
		} else {
			fast = append(fast, r.beside)
		}
		if r.paper[0] > 0 {
			pools = append(pools, r)
		}
	}
	return []claim{
		sizesClaim(`"[...] the pinned memory requirement by AlexNet, VGG-16 [...] for batch size 128 are 453 MB, 7436 MB" (section III-C).`, pinned),
		sizesClaim(`The aggregate peaks of the modes with memory-optimal convolutions (tables II and V).`, slow),
		sizesClaim(`The aggregate peaks of the modes with performance-optimal convolutions (tables II and V).`, fast),
		poolsClaim(pools),
		heuristicClaim(pools),
	}
}

func sizesClaim(says string, rows []beside) claim {
	close := 0
	var parts []string
	for _, r := range rows {
		if math.Abs(r.off()) <= publishedWithin {
			close++
		}
		parts = append(parts, fmt.Sprintf("%s %s", r.what, perCent(r.off())))
	}
	return claim{
		says:    says,
		here:    fmt.Sprintf("within 3 %% for %d of %d: %s.", close, len(rows), strings.Join(parts, ", ")),
		verdict: mostly(close, len(rows)),
	}
}

// poolsClaim checks the largest cost of fragmentation.
func poolsClaim(rows []peakRow) claim {
	above, cases, worst, where := 0, 0, 0.0, ""
	for _, r := range rows {
		for i := range r.pools {
			cases++
			if r.pools[i] > r.here {
				above++
			}
			if d := r.pools[i] - r.here; d > worst {
				worst, where = d, r.what
			}
		}
	}
	return claim{
		says: `With the search for a pool "the maximum difference of actual peak size from aggregate peak size is about 343MB for AlexNet(256)" (section V-B, all modes, best fit, prefetch first).`,
		here: fmt.Sprintf("all modes but dynamic ones, and all four ways: the pool is larger than the aggregate peak in %d of %d cases, by %s MiB at most (%s).",
			above, cases, number(worst, 0), where),
		verdict: closeTo(worst, 343),
	}
}

// heuristicClaim checks that none of the four ways is always the best.
func heuristicClaim(rows []peakRow) claim {
	names := []string{"best fit, prefetch first", "best fit, derivative first", "high-end, prefetch first",
		"high-end, derivative first"}
	best := make([]int, len(names))
	for _, r := range rows {
		least := math.Inf(1)
		for _, x := range r.pools {
			least = min(least, x)
		}
		for i, x := range r.pools {
			if x == least {
				best[i]++
			}
		}
	}
	always := 0
	var parts []string
	for i, n := range best {
		if n == len(rows) {
			always++
		}
		parts = append(parts, fmt.Sprintf("%s %d", names[i], n))
	}
	return claim{
		says: `"[...] it cannot be concluded that any one ordering or heuristic is better than the other" (section V-B).`,
		here: fmt.Sprintf("smallest pool of the four, of %d modes: %s; %d of them always.", len(rows),
			strings.Join(parts, ", "), always),
		verdict: holds(always == 0),
	}
}

func raceClaims(all []*layerRace) []claim {
	never, cases, best, where := 0, 0, 0.0, ""
	var gain [3]mean
	alex := math.NaN()
	for _, r := range all {
		for k, set := range layerSets {
			sync, async := r.step[k][0], r.step[k][1]
			if sync == 0 && async == 0 {
				continue
			}
			cases++
			if async > 0 && (sync == 0 || async <= sync) {
				never++
			}
			x, ok := r.improvement(k)
			if !ok {
				continue
			}
			gain[k].add(x)
			if x > best {
				best, where = x, r.ref+" "+set
			}
			if r.ref == layerRefs[0] && set == "all" {
				alex = x
			}
		}
	}
	return []claim{
		{
			says:    `"[...] performance of vDNN++ is at least as good as vDNN" (section V-A).`,
			here:    fmt.Sprintf("no slower, and fits where vDNN does, in %d of %d cases.", never, cases),
			verdict: mostly(never, cases),
		},
		{
			says: `"[...] a relative improvement of up to 60% (AlexNet(128) all(p) in Nvidia 970 and AlexNet(256) all(m) in Nvidia 1080Ti)" (section V-A).`,
			here: fmt.Sprintf("AlexNet(256) with everything offloaded %s; of all cases up to %s (%s). Times of the card are estimated, modes (m).",
				format.Share(alex), format.Share(best), where),
			verdict: upTo(alex, 0.6),
		},
		{
			says: `"The best improvement can be seen in case of ALL offload due to the POOL layers" (section V-A).`,
			here: fmt.Sprintf("improvement on average: all %s, conv %s, aconv %s.",
				format.Share(gain[0].value()), format.Share(gain[1].value()), format.Share(gain[2].value())),
			verdict: holds(gain[0].value() >= gain[1].value() && gain[0].value() >= gain[2].value()),
		},
		tableClaim(all),
	}
}

// tableClaim checks that of the three sets, alternate convolutions are the fastest (table IV).
func tableClaim(all []*layerRace) claim {
	var parts []string
	fastest, cases := 0, 0
	for _, r := range all {
		paper, listed := paperTimes[r.ref]
		if !listed {
			continue
		}
		cases++
		aconv, conv := r.fast[2][1], r.fast[1][1]
		switch fits := paper["aconv"][1] > 0; {
		case !fits && aconv == 0 || fits && aconv > 0 && aconv < conv:
			fastest++
		}
		parts = append(parts, fmt.Sprintf("%s %s ms, conv %s ms, all %s ms", r.ref, stepTime(aconv), stepTime(conv),
			stepTime(r.fast[0][1])))
	}
	return claim{
		says:    `Offloading every second convolution is the fastest on VGG-116(32), and does not fit on VGG-191(32) (table IV, vDNN++).`,
		here:    fmt.Sprintf("modes (p): every second convolution %s.", strings.Join(parts, "; ")),
		verdict: mostly(fastest, cases),
	}
}
