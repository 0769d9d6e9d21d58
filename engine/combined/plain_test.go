package combined

import "math"

// plain is the recursion of paper 001 (docs/paper-001.md), derived independently, with a cache of its values. The
// tests compare the solver with it.
type plain struct {
	*terms
	sweeps map[[6]int64]int64
	backs  map[[4]int64]int64
}

const never = math.MaxInt64 / 4

func plainMakespan(t *terms) (ticks int64, ok bool) {
	p := plain{t, map[[6]int64]int64{}, map[[4]int64]int64{}}
	v := p.sweep(1, 0, 0, 0, 0)
	return v, v < never
}

// sweep returns OC_x(i, A, dF, dB). A is in bytes, the debts of the two passes are in ticks.
func (p *plain) sweep(i int, x int64, a, dF, dB int64) int64 {
	key := [6]int64{int64(i), x, a, dF, dB}
	if v, ok := p.sweeps[key]; ok {
		return v
	}
	z := p.input(i, x == 1)
	best := int64(never)
	onward := func(j int, x int64, costF, costB int64, keep bool) {
		v := costF + costB + p.sweep(j, x, a, max(dF+p.out*z-costF, 0), max(dB-costB, 0)+p.in*z)
		if keep {
			v = min(v, costF+costB+p.sweep(j, x, a+z, max(dF-costF, 0), max(dB-costB, 0)))
		}
		best = min(best, v)
	}
	if m := p.room - a - z; p.all(i, p.n) <= m && p.back(i) <= m {
		costF := p.fwd[i] + max(0, (p.all(i, p.n)-m)*p.out+dF)
		costB := p.bwd[i] + max(0, (p.back(i)-m)*p.in+dB)
		if i == p.n {
			best = min(best, max(costF, dF)+max(costB, dB))
		} else {
			onward(i+1, 1, costF, costB, true)
		}
	}
	for j := i; j < p.n; j++ {
		need, ok, keep := int64(math.MinInt64), true, true
		for k := i; k <= j; k++ {
			nk := p.none(i, p.n, k)
			ok = ok && nk+a <= p.room && (k > i || nk+a+z <= p.room)
			keep = keep && nk+a+z <= p.room
			need = max(need, (nk+a+z-p.room)*p.out+dF-(p.until[k-1]-p.until[i-1]))
		}
		costB := p.back2(i, j, a+z, dB)
		if !ok || costB >= never {
			continue
		}
		onward(j+1, 0, p.until[j]-p.until[i-1]+max(0, need), costB, keep)
	}
	p.sweeps[key] = best
	return best
}

// back2 returns C(i, j, A, D).
func (p *plain) back2(i, j int, a, d int64) int64 {
	key := [4]int64{int64(i), int64(j), a, d}
	if v, ok := p.backs[key]; ok {
		return v
	}
	best := int64(never)
	over := func(need, debt int64) int64 { return max(0, (need+a-p.room)*p.in+debt) }
	if p.all(i, j)+a <= p.room && p.back(i)+a <= p.room {
		if i == j {
			best = p.fwd[i] + p.bwd[i] + max(over(p.all(i, i), d-p.bwd[i]), over(p.back(i), d))
		} else {
			eB := over(p.back(i), d)
			d1 := max(0, d-p.bwd[i]-eB)
			c := p.back2(i+1, j, a+p.saved[i], d1)
			if c < never {
				eF := over(p.all(i, j), max(0, d1-c))
				best = p.fwd[i] + c + p.bwd[i] + eF + eB
			}
		}
	}
	for k := i; k < j; k++ {
		c1 := p.back2(i, k, a, d)
		if c1 >= never {
			continue
		}
		d2 := max(0, d-c1)
		c2 := p.back2(k+1, j, a+p.act[k], d2)
		if c2 >= never {
			continue
		}
		d3 := max(0, d2-c2)
		e, ok := int64(0), true
		for q := i; q <= k; q++ {
			ok = ok && p.none(i, j, q)+a <= p.room
			e = max(e, over(p.none(i, j, q), d3)-(p.until[k]-p.until[q]))
		}
		if ok {
			best = min(best, p.until[k]-p.until[i-1]+c1+c2+e)
		}
	}
	p.backs[key] = best
	return best
}
