package draw

import (
	"memtide/web/display"
	"memtide/web/lookup"
)

// Scene is a display list with buffers for drawing, so that a scene that is reused
// allocates little. The zero value is an empty scene.
type Scene struct {
	display.List

	slices byKind
	bands  []bandPoint
	placed []box
	cells  cells
}

// bandPoint is a corner of the bands: the running sums at one x.
type bandPoint struct {
	x    float64
	sum  lookup.Bounds
	sunk int64 // bytes that were sunk onto the lowest band, see sink
}

// below returns the lower border of band b.
func (p *bandPoint) below(b int) int64 {
	switch b {
	case 0:
		return 0
	case 1:
		return p.sum[0] + p.sunk
	}
	return p.sum[b-1]
}

// thick reports whether band b is not empty.
func (p *bandPoint) thick(b int) bool { return p.sum[b] > p.below(b) }

// seam is the outline of a piece while it is drawn.
type seam struct {
	piece *lookup.Piece
	xy    []float64
	foot  float64 // y of the lower end in the last interval
}

// box is a rectangle that labels must not cover, or the place of something that is drawn.
type box struct{ x0, y0, x1, y1 float64 }

func (b *box) meets(o *box) bool {
	return b.x0 < o.x1 && o.x0 < b.x1 && b.y0 < o.y1 && o.y0 < b.y1
}
