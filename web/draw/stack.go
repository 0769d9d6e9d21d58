package draw

import (
	"slices"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// mostSunk is the largest number of pieces of a stage that can be distinguished in a picture.
const mostSunk = 64

// sunkPieces returns the indices of the visible pieces of the stage that the selection highlights.
// It returns none if there are too many, or if they are too low to be seen.
func (m *Index) sunkPieces(f *frame, sc *memoryScale) (out []int32) {
	k := m.Lit(f.Selected)
	if k == 0 {
		return nil
	}
	x, high := m.Pieces(), false
	for _, i := range x.OfStage[k-1] {
		if p := &x.All[i]; p.To > int64(f.From) && p.From < int64(f.To) {
			out = append(out, i)
			high = high || float64(p.Most())*sc.perByte >= 2
		}
	}
	if !high || len(out) > mostSunk {
		return nil
	}
	return out
}

// sunkAt returns the bytes of pieces at x, by category and in total: just before x if before is
// true, otherwise from x on.
func (m *Index) sunkAt(f *frame, pieces []int32, x float64, before bool) (by [sim.NumCategories]int64, sum int64) {
	const little = 0.004 // pixels: the largest distance of points at the same moment
	all := m.Pieces().All
	for _, i := range pieces {
		p := &all[i]
		x0, x1 := f.x(p.From), f.x(p.To)
		if before && (x0 >= x-little || x1 < x-little) || !before && (x0 > x+little || x1 <= x+little) {
			continue
		}
		at := min(max(int64(f.From)+int64((x-f.left)/f.scale), p.From), p.To)
		by[p.Band] += p.Bytes(at)
		sum += p.Bytes(at)
	}
	return by, sum
}

// sink removes the pieces of a stage from the bands of pts and puts them on top of the fixed
// memory, so that they can be followed through the step. It sets the sunk of every point to the
// bytes of the pieces there. The sum of all bands does not change.
func (m *Index) sink(f *frame, pieces []int32, pts []bandPoint) (out []bandPoint) {
	add := func(p bandPoint, before bool) {
		by, sum := m.sunkAt(f, pieces, p.x, before)
		const top = sim.NumCategories - 1
		sum = min(sum, p.sum[top]-p.sum[0])
		below := sum // sunk bytes that came from above band b
		for b := 1; b < int(top); b++ {
			below -= by[lookup.Stack[b]]
			p.sum[b] += max(below, 0)
		}
		for b := int(top) - 1; b >= 1; b-- { // sums of a merged column are not of one moment: keep them in order
			p.sum[b] = max(min(p.sum[b], p.sum[b+1]), p.sum[0]+sum)
		}
		p.sunk = sum
		out = append(out, p)
	}
	for i := range pts {
		jumpsOn := i+1 < len(pts) && pts[i+1].x-pts[i].x < 0.005
		jumped := i > 0 && pts[i].x-pts[i-1].x < 0.005
		switch {
		case jumpsOn && !jumped:
			add(pts[i], true)
		case jumped || i == 0:
			add(pts[i], false)
		default:
			a, _ := m.sunkAt(f, pieces, pts[i].x, true)
			if b, _ := m.sunkAt(f, pieces, pts[i].x, false); a != b {
				add(pts[i], true)
			}
			add(pts[i], false)
		}
	}
	return out
}

// drawSunk fills the sunk pieces in the colours of their bands.
func (m *Index) drawSunk(s *Scene, f *frame, sc *memoryScale, pieces []int32) {
	all := m.Pieces().All
	for n, i := range pieces {
		p := &all[i]
		x0, x1 := f.clip(f.x(p.From)), f.clip(f.x(p.To))
		if x1-x0 < 0.01 {
			continue
		}
		below := int64(m.Memory.Fixed)
		for _, j := range pieces[:n] {
			if o := &all[j]; o.From < p.To && o.To > p.From {
				below += o.Bytes(max(p.From, o.From))
			}
		}
		base := sc.foot(below)
		st := bandStyles[p.Band]
		xy := []float64{x0, base, x0,
			sc.y(below + p.Bytes(max(p.From, int64(f.From)))), x1,
			sc.y(below + p.Bytes(min(p.To, int64(f.To)))), x1, base}
		s.Path(display.OpArea, st, xy)
	}
}

// outlineSunk outlines the sunk pieces.
func outlineSunk(s *Scene, sc *memoryScale) {
	var xy []float64
	flush := func(base int64) {
		if len(xy) > 2 {
			y := sc.foot(base)
			xy = append(xy, xy[len(xy)-2], y, xy[0], y, xy[0], xy[1])
			s.Path(display.OpLine, display.StrokeOf(display.Ink, 1.8), xy)
		}
		xy = xy[:0]
	}
	for i := range s.bands {
		p := &s.bands[i]
		if p.sunk <= 0 {
			flush(p.sum[0])
			continue
		}
		if y := sc.foot(p.sum[0]); len(xy) == 0 {
			xy = append(xy, p.x, y)
		}
		xy = corner(xy, p.x, sc.y(p.sum[0]+p.sunk))
	}
	if n := len(s.bands); n > 0 {
		flush(s.bands[n-1].sum[0])
	}
}

// Seams are lines between values that are at least seamHeight pixels high and wide. If their
// total length would exceed seamMost, only larger values have seams.
const (
	seamHeight = 3.0
	seamMost   = 24_000.0
)

// drawSeams draws the seams of the bands. In each band, values with seams are at the bottom, in
// the order of their starts.
func (m *Index) drawSeams(s *Scene, f *frame, sc *memoryScale, sunk []int32) {
	x := m.Pieces()
	size, wide := seamHeight/sc.perByte, seamHeight/f.scale
	var ids []int32
	for {
		ids = x.Seen(int64(f.From), int64(f.To), int64(wide), int64(size), ids[:0])
		length := 0.0
		for _, i := range ids {
			length += f.clip(f.x(x.All[i].To)) - f.clip(f.x(x.All[i].From))
		}
		if length <= seamMost {
			break
		}
		size *= 2
	}
	for b := 1; b < len(lookup.Stack); b++ {
		var seams []seam
		for _, i := range ids {
			if p := &x.All[i]; p.Band == lookup.Stack[b] && !slices.Contains(sunk, i) {
				seams = append(seams, seam{piece: p})
			}
		}
		drawSeamsOf(s, f, sc, b, seams)
	}
}

// drawSeamsOf draws the seams of band b.
func drawSeamsOf(s *Scene, f *frame, sc *memoryScale, b int, seams []seam) {
	st := display.StrokeOf(display.Surface, 0.8)
	first, open := 0, 0 // seams[first:open] are those that have begun and may not have ended
	for i := 0; i+1 < len(s.bands) && first < len(seams); i++ {
		l, r := &s.bands[i], &s.bands[i+1]
		if r.x-l.x < 0.005 {
			continue
		}
		at := int64(f.From) + int64(((l.x+r.x)/2-f.left)/f.scale)
		for open < len(seams) && seams[open].piece.From <= at {
			open++
		}
		base := [2]int64{l.below(b), r.below(b)}
		for k := first; k < open; k++ {
			g := &seams[k]
			p := g.piece
			if p.To <= at {
				g.close(s, st)
				if k == first {
					first++
				}
				continue
			}
			foot := sc.foot(min(base[0], l.sum[b]))
			for side, x := range [2]float64{l.x, r.x} {
				base[side] += p.Bytes(min(max(int64(f.From)+int64((x-f.left)/f.scale), p.From), p.To))
			}
			y0, y1 := sc.y(min(base[0], l.sum[b])), sc.y(min(base[1], r.sum[b]))
			if len(g.xy) == 0 {
				g.xy = append(g.xy, l.x, foot)
			}
			g.foot = foot
			g.xy = corner(g.xy, l.x, y0)
			g.xy = corner(g.xy, r.x, y1)
		}
	}
	for k := first; k < open; k++ {
		seams[k].close(s, st)
	}
}

// close draws a seam that has ended, if it was not drawn before.
func (g *seam) close(s *Scene, st display.Style) {
	if n := len(g.xy); n > 0 {
		g.xy = append(g.xy, g.xy[n-2], g.foot)
		s.Path(display.OpLine, st, g.xy)
		g.xy = g.xy[:0]
	}
}
