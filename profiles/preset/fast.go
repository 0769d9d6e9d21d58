package preset

import (
	"memtide/engine"
	"memtide/profiles/analytic"
)

// Performance-optimal convolutions (p), beside the memory-optimal ones (m) that every preset has: Shriram et al.
// (doi:10.1109/IPDPS.2019.00030, section II-B). The paper names neither algorithms nor workspaces. This is a rule of
// this project for the two kinds of algorithms in libraries, with stride 1:
//
//   - 3x3: Winograd's F(4x4, 3x3) with separate transforms (Lavin and Gray,
//     arXiv:1509.09308). Tiles of 4x4 outputs become 36 numbers, for each channel
//     in and out and for each filter; the products take a quarter of the
//     multiplications. The workspace holds all three transforms.
//   - 5x5 and more: Fourier transforms of 32x32 (Vasilache et al.,
//     arXiv:1412.7580), of which 32x17 complex numbers differ, 4 multiplications
//     each. The workspace holds both factors of the product, as they are
//     transformed and reordered for the product; the result overwrites
//     the former. The backward is two products, and the larger one counts.
//
// With this rule, the aggregate peaks of all six modes (p) of table V for the paper's
// layers come out within 1 %, but the peaks of table II for VGG-16 at batch 16 do not.

const (
	winogradTile  = 4 // side of the outputs of a tile
	winogradTerms = (winogradTile + 2) * (winogradTile + 2)
	winogradLess  = 4 // times fewer multiplications: 16*9 / 36

	fourierSide  = 32
	fourierTerms = fourierSide * (fourierSide/2 + 1)
)

// transformed is a convolution by transforms. Workspaces are in numbers.
type transformed struct {
	forward, back int64
	macs          int64 // multiply-adds of a product of transforms
}

// byTransforms returns the performance-optimal algorithm of a convolution from in to out, or nil if it has none.
func (t *tape) byTransforms(in, out value, f filter, macs int64) *transformed {
	if f.stride != 1 || f.along != bothAxes || f.size < 3 || f.size >= fourierSide {
		return nil
	}
	n, c, k := t.batch, in.c, out.c
	if f.size == 3 {
		tiles := n * parts(out.h, winogradTile) * parts(out.w, winogradTile)
		all := winogradTerms * (tiles*(c+k) + c*k)
		return &transformed{forward: all, back: all, macs: macs / winogradLess}
	}
	valid := fourierSide - f.size + 1
	n *= parts(out.h, valid) * parts(out.w, valid)
	const twice = 2 * 2 * fourierTerms // two copies of numbers with two parts
	return &transformed{
		forward: twice * c * (n + k),
		back:    twice * max(k*(n+c), n*(c+k)),
		macs:    4 * fourierTerms * n * c * k,
	}
}

// parts returns how many intervals of a length cover n.
func parts(n, length int64) int64 { return (n + length - 1) / length }

// time returns the time of the product and of the traffic, one after the other, since transforms are kernels of
// their own. A transform writes what the product reads, and the other way round.
func (x *transformed) time(m model, elem engine.Bytes, in, out float64, fromData bool) opTime {
	product := m.Product(float64(x.macs), 0).Forward
	moved := func(workspace int64) float64 {
		return m.Element(analytic.Passes{Forward: 1}, in+out+2*float64(workspace)*float64(elem)).Forward
	}
	products := 2.0
	if fromData {
		products = 1
	}
	return opTime{Forward: product + moved(x.forward), Back: products * (product + moved(x.back))}
}

// fast returns the stage with the performance-optimal algorithm for each convolution and direction for which the
// model says that it is faster, or nil if it is faster nowhere. Workspaces add to the stage's other temporaries.
func (s *stage) fast(m model) *engine.Algorithm {
	var sum opTime
	var forward, back engine.Bytes
	found := false
	for i := range s.tape.ops {
		o := &s.tape.ops[i]
		d := s.time(s.tape, o)
		if x := o.transformed; x != nil {
			elem := s.tape.elem
			fast := x.time(m, elem, float64(s.tape.values[o.in[0]].bytes), float64(s.tape.values[o.out].bytes),
				s.fromData && o.in[0] == stageInput)
			if fast.Forward < d.Forward {
				found, d.Forward, forward = true, fast.Forward, max(forward, engine.Bytes(x.forward)*elem)
			}
			if fast.Back < d.Back {
				found, d.Back, back = true, fast.Back, max(back, engine.Bytes(x.back)*elem)
			}
		}
		sum.Forward += d.Forward
		sum.Back += d.Back
	}
	if !found {
		return nil
	}
	m1 := s.measure()
	return &engine.Algorithm{Forward: analytic.Duration(sum.Forward), Back: analytic.Duration(sum.Back),
		FwdTemp: m1.FwdTemp + forward, BwdTemp: m1.BwdTemp + back}
}

const fastNote = "Convolutions have a second, performance-optimal algorithm (p): Winograd F(4x4, 3x3) and 32 x 32 Fourier transforms, with the workspace of their transforms, where an analytic model of its products and traffic says that it is shorter. Workspaces and times are estimates; in the layers of the paper on vDNN++ the peaks of its modes (p) come out within 1 %."
