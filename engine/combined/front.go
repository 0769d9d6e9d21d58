package combined

import (
	"cmp"
	"slices"
	"sort"

	"memtide/engine"
)

// triple is one way to run the backward part of a segment (i,j). With A bytes held outside and D
// ticks of debt it takes max(time, due+D+(A-M)*in), if A+peak is at most M. In terms of section
// 3.2, due is time + the largest need*in less the time from there to the end.
type triple struct {
	time, due int64 // ticks
	peak      int64 // bytes
}

// fronts holds, for every segment (i,j), i <= j < n, the triples that no other one dominates in all
// three fields. C(i,j,A,D) is the least of their costs. The triples depend on neither A nor D, so a
// front replaces the table of the paper.
type fronts struct {
	*terms
	slack int64 // ticks: plans that take more beyond the sum of all times are left out
	rows  [][]triple
	count int // number of all triples
	thin  int // triples kept per segment; 0: all
	poll  *engine.Poll

	w     []triple  // scratch: candidates of the current segment
	kill  [4]triple // scratch: candidates that are likely to dominate others
	next  int       // index in kill of the one to replace next
	stair []triple  // scratch of pareto and thinner
}

func (f *fronts) at(i, j int) []triple { return f.rows[i*(f.n+1)+j] }

// fill computes all fronts, shorter segments first.
func (f *fronts) fill() error {
	f.rows = make([][]triple, (f.n+1)*(f.n+1))
	f.count = 0
	last := f.n - 1
	for size := 1; size <= last; size++ {
		for i := 1; i+size-1 <= last; i++ {
			if err := f.build(i, i+size-1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *fronts) build(i, j int) error {
	// A plan that comes to the backward part of a segment has run its stages once more already.
	limit := f.slack + f.base[j] - f.base[i-1] - (f.until[j] - f.until[i-1])
	f.w = f.w[:0]
	f.kill = [4]triple{{time: unreachable}, {time: unreachable}, {time: unreachable}, {time: unreachable}}
	add := func(c triple) {
		if c.time <= limit && c.peak <= f.room {
			f.w = append(f.w, c)
		}
	}
	if i == j {
		b, all := f.back(i), f.all(i, i)
		time := f.fwd[i] + f.bwd[i]
		add(triple{time, time + max(b*f.in, all*f.in-f.bwd[i]), max(b, all)})
	} else {
		for _, c := range f.at(i+1, j) {
			add(f.keeping(i, j, c))
		}
	}
	var none, wanting int64
	for k := i; k < j; k++ {
		need := f.none(i, j, k)
		none = max(none, need)
		wanting = max(wanting-f.fwd[k], need*f.in)
		if err := f.split(i, j, k, none, wanting, limit); err != nil {
			return err
		}
	}
	f.w = f.pareto(f.w)
	if f.thin > 0 && len(f.w) > f.thin {
		f.w = f.thinner(f.w)
	}
	f.count += len(f.w)
	if f.count > maxTriples {
		return errTooMany
	}
	f.rows[i*(f.n+1)+j] = slices.Clone(f.w)
	return nil
}

// split adds the triples that run i..k without keeping anything, then k+1..j, and then i..k again.
func (f *fronts) split(i, j, k int, none, wanting, limit int64) error {
	first := f.until[k] - f.until[i-1] // the run that keeps nothing
	right := f.at(k+1, j)
	pairs := 0
	for _, l := range f.at(i, k) {
		for _, r := range right {
			time := first + l.time + r.time
			if time > limit {
				break
			}
			pairs++
			c := f.splitting(i, k, none, wanting, l, r)
			if c.peak <= f.room && !f.killed(c) {
				f.w = append(f.w, c)
			}
		}
		if err := f.poll.Err(); err != nil {
			return err
		}
	}
	if !f.effort.spend(int64(perPair*pairs)+int64(len(right))) && f.thin == 0 {
		return errTooMany
	}
	if len(f.w) > 1<<18 {
		f.w = f.pareto(f.w)
	}
	return nil
}

// killed reports whether one of a few recent candidates dominates c. If not, c replaces the oldest of them.
func (f *fronts) killed(c triple) bool {
	for x := range f.kill {
		if k := &f.kill[x]; k.time <= c.time && k.due <= c.due && k.peak <= c.peak {
			return true
		}
	}
	f.kill[f.next&3] = c
	f.next++
	return false
}

// keeping returns the triple of F_all^i, then triple c of (i+1,j), then B^i.
func (f *fronts) keeping(i, j int, c triple) triple {
	b, all := f.back(i), f.all(i, j)
	time := f.fwd[i] + c.time + f.bwd[i]
	need := max(b*f.in, f.saved[i]*f.in+c.due-c.time-f.bwd[i], all*f.in-f.bwd[i]-c.time)
	return triple{time, time + need, max(b, f.saved[i]+c.peak, all)}
}

// splitting returns the triple of i..k without keeping anything, then triple r of (k+1,j), then
// triple l of (i,k). none is the largest need of the operations before r, and wanting is the
// largest number of ticks by which transfers are late when the last of these operations ends.
func (f *fronts) splitting(i, k int, none, wanting int64, l, r triple) triple {
	time := f.until[k] - f.until[i-1] + l.time + r.time
	need := max(l.due-l.time, f.act[k]*f.in+r.due-r.time-l.time, wanting-l.time-r.time)
	return triple{time, time + need, max(l.peak, f.act[k]+r.peak, none)}
}

// pareto drops the dominated triples of v, and sorts the others by time.
func (f *fronts) pareto(v []triple) []triple {
	slices.SortFunc(v, func(a, b triple) int {
		if a.time != b.time {
			return cmp.Compare(a.time, b.time)
		}
		return cmp.Or(cmp.Compare(a.peak, b.peak), cmp.Compare(a.due, b.due))
	})
	// stair holds the triples seen so far that are not dominated in peak and due: as peak rises, due falls.
	st := f.stair[:0]
	out := v[:0]
	for _, c := range v {
		k := sort.Search(len(st), func(k int) bool { return st[k].peak > c.peak })
		if k > 0 && st[k-1].due <= c.due {
			continue
		}
		lo, hi := k, k
		if k > 0 && st[k-1].peak == c.peak {
			lo = k - 1
		}
		for hi < len(st) && st[hi].due >= c.due {
			hi++
		}
		st = slices.Replace(st, lo, hi, c)
		out = append(out, c)
	}
	f.stair = st
	return out
}

// thinner keeps f.thin triples, spread over all of them, including one with the least peak. All of
// them are ways to run the segment, so plans made of them are valid.
func (f *fronts) thinner(v []triple) []triple {
	least := 0
	for x := range v {
		if v[x].peak < v[least].peak {
			least = x
		}
	}
	out := f.stair[:0]
	for x := range f.thin {
		at := x * len(v) / f.thin
		if next := (x + 1) * len(v) / f.thin; at <= least && least < next {
			at = least
		}
		out = append(out, v[at])
	}
	f.stair = v[:0:cap(v)]
	return out
}

// cost returns C(i,j,A,D) and the index of the triple that attains it, which is -1 if none fits.
func (f *fronts) cost(i, j int, a, d int64) (best int64, which int) {
	best, which = unreachable, -1
	for x, c := range f.at(i, j) {
		if c.time >= best {
			break
		}
		if c.peak+a <= f.room {
			if v := max(c.time, c.due+d+(a-f.room)*f.in); v < best {
				best, which = v, x
			}
		}
	}
	return best, which
}

// unreachable is above the cost of every plan.
const unreachable = int64(1) << 61
