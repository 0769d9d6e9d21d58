package draw

import (
	"slices"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// mostSunk is how many pieces of a stage can be told apart in a picture.
const mostSunk = 64

// sunkPieces returns the pieces of the stage that t lights, in view; none if there are
// too many, or if they are too low to be seen.
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

// sunkAt returns what of the pieces of a stage is there at x, by category: just before it,
// or from it on.
func (m *Index) sunkAt(f *frame, pieces []int32, x float64, before bool) (by [sim.NumCategories]int64, sum int64) {
	const little = 0.004 // pixels: what is as near is at one moment
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

// sink takes the pieces of a stage out of the bands of pts and lays them on what is
// fixed, so that one can follow them through the step: every point's sunk is how high
// they are there. What lies above all bands stays.
func (m *Index) sink(f *frame, pieces []int32, pts []bandPoint) (out []bandPoint) {
	add := func(p bandPoint, before bool) {
		by, sum := m.sunkAt(f, pieces, p.x, before)
		const top = sim.NumCategories - 1
		sum = min(sum, p.sum[top]-p.sum[0])
		below := sum // of what is sunk, how much came from above a band
		for b := 1; b < int(top); b++ {
			below -= by[lookup.Stack[b]]
			p.sum[b] += max(below, 0)
		}
		for b := int(top) - 1; b >= 1; b-- { // a merged column knows no moments
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

// drawSunk fills the pieces that were sunk, in the colours of their bands.
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

// outlineSunk draws a line in ink around what was sunk, as long as it is there.
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

// Seams are lines between values that are at least seamHeight high and wide; if
// together they would be longer than seamMost, only between larger ones.
const (
	seamHeight = 3.0
	seamMost   = 24_000.0
)

// drawSeams draws the borders between the values of the bands: the larger of a band
// lie under the others, in the order of their starts.
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

// drawSeamsOf draws seams, which are of one band.
func drawSeamsOf(s *Scene, f *frame, sc *memoryScale, b int, seams []seam) {
	st := display.StrokeOf(display.Surface, 0.8)
	first, open := 0, 0 // of the seams, those that may still be drawn
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

// close draws a seam that has ended; once.
func (g *seam) close(s *Scene, st display.Style) {
	if n := len(g.xy); n > 0 {
		g.xy = append(g.xy, g.xy[n-2], g.foot)
		s.Path(display.OpLine, st, g.xy)
		g.xy = g.xy[:0]
	}
}
