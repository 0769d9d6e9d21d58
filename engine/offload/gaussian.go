package offload

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// point is a combination of four weights that add up to 1.
type point [4]float64

// firstPoints is the number of points that are tried before the process is used: each weight alone, and all weights.
const firstPoints = 5

func firstPoint(k int) point {
	if k < 4 {
		var p point
		p[k] = 1
		return p
	}
	return point{0.25, 0.25, 0.25, 0.25}
}

// gaussian is a Gaussian process over the simplex of weights, with a squared exponential kernel. It
// interpolates the values that were added, with an error estimate elsewhere.
type gaussian struct {
	at    []point
	value []float64
	lower [][]float64 // Cholesky factor of the kernel matrix
	solve []float64   // solution of the kernel matrix for the values, centred and scaled
	mean  float64
	scale float64
	half  []float64 // scratch of guess
}

// The length of the kernel, and the noise added to its diagonal. Nearby weights give equal sets, so
// the values change in steps and are not smooth. proposals is the number of random points of next.
const (
	kernelLength = 0.3
	kernelNoise  = 1e-3
	proposals    = 64
)

func kernel(a, b point) float64 {
	var d float64
	for k := range a {
		d += (a[k] - b[k]) * (a[k] - b[k])
	}
	return math.Exp(-d / (2 * kernelLength * kernelLength))
}

// add adds a point with its value.
func (g *gaussian) add(p point, value float64) {
	g.at, g.value = append(g.at, p), append(g.value, value)
	n := len(g.at)
	row := make([]float64, n)
	for k := range row {
		v := kernel(p, g.at[k])
		if k == n-1 {
			v += kernelNoise
		}
		other := row
		if k < n-1 {
			other = g.lower[k]
		}
		for j := range k {
			v -= row[j] * other[j]
		}
		if k == n-1 {
			row[k] = math.Sqrt(max(v, kernelNoise/10))
		} else {
			row[k] = v / other[k]
		}
	}
	g.lower = append(g.lower, row)
	g.fit()
}

// fit centres and scales the values and solves for them.
func (g *gaussian) fit() {
	n := float64(len(g.value))
	var sum, squares float64
	for _, v := range g.value {
		sum += v
	}
	g.mean = sum / n
	for _, v := range g.value {
		squares += (v - g.mean) * (v - g.mean)
	}
	g.scale = cmp.Or(math.Sqrt(squares/n), 1)
	g.solve = g.solve[:0]
	for k, v := range g.value {
		v = (v - g.mean) / g.scale
		for j := range k {
			v -= g.lower[k][j] * g.solve[j]
		}
		g.solve = append(g.solve, v/g.lower[k][k])
	}
	for k := len(g.solve) - 1; k >= 0; k-- {
		for j := k + 1; j < len(g.solve); j++ {
			g.solve[k] -= g.lower[j][k] * g.solve[j]
		}
		g.solve[k] /= g.lower[k][k]
	}
}

// guess returns the mean and the standard deviation of the process at a point, in scaled values.
func (g *gaussian) guess(p point) (mean, deviation float64) {
	variance := 1.0
	g.half = slices.Grow(g.half[:0], len(g.at))[:len(g.at)]
	half := g.half
	for k := range g.at {
		v := kernel(p, g.at[k])
		mean += v * g.solve[k]
		for j := range k {
			v -= g.lower[k][j] * half[j]
		}
		half[k] = v / g.lower[k][k]
		variance -= half[k] * half[k]
	}
	return mean, math.Sqrt(max(variance, 0))
}

// next returns the point with the largest expected improvement among random points.
func (g *gaussian) next(r *rand.Rand) point {
	best := math.Inf(1)
	for _, v := range g.value {
		best = min(best, (v-g.mean)/g.scale)
	}
	var top point
	most := -1.0
	for range proposals {
		p := randomPoint(r)
		mean, deviation := g.guess(p)
		if e := improvement(best, mean, deviation); e > most {
			top, most = p, e
		}
	}
	return top
}

// improvement returns the expected amount by which a normal variable falls below best.
func improvement(best, mean, deviation float64) float64 {
	if deviation < 1e-9 {
		return max(0, best-mean)
	}
	z := (best - mean) / deviation
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	below := math.Erfc(-z/math.Sqrt2) / 2
	return (best-mean)*below + deviation*density
}

// randomPoint returns a point uniformly distributed over the simplex.
func randomPoint(r *rand.Rand) (p point) {
	var sum float64
	for k := range p {
		p[k] = r.ExpFloat64()
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}
