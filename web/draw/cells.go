package draw

import (
	"math"

	"memtide/engine/sim"
	"memtide/web/lookup"
)

// rects are rectangles: x, y, width and height each.
type rects []float64

func (r *rects) add(x, y, w, h float64) {
	*r = append(*r, x, y, w, h)
}

// byKind are rectangles by kind of slice; the last ones are narrow waits, see kindSliver.
type byKind [lookup.NumKinds + 1]rects

// cell is the side of a cell in pixels.
const cell = 3.0

// cells is a grid that adds up the areas of blocks that are too small to be drawn.
type cells struct {
	left, top  float64
	cols, rows int
	cover      [][sim.NumCategories]float32 // by cell, row by row: the part of it that each category covers
}

// reset makes the grid empty, for a plot with the given edges.
func (c *cells) reset(left, top, right, bottom float64) {
	c.left, c.top = left, top
	c.cols, c.rows = max(int(math.Ceil((right-left)/cell)), 1), max(int(math.Ceil((bottom-top)/cell)), 1)
	c.cover = append(c.cover[:0], make([][sim.NumCategories]float32, c.cols*c.rows)...)
}

// add adds a block: an upright one to the column of its middle, a level one to the row of its middle.
func (c *cells) add(kind sim.Category, x, y, w, h float64) {
	x, y, w, h = (x-c.left)/cell, (y-c.top)/cell, w/cell, h/cell
	if w <= h {
		col := min(max(int(x+w/2), 0), c.cols-1)
		c.spread(kind, c.cover[col:], c.cols, c.rows, y, y+h, w)
		return
	}
	row := min(max(int(y+h/2), 0), c.rows-1)
	c.spread(kind, c.cover[row*c.cols:], 1, c.cols, x, x+w, h)
}

// spread adds the interval [from, to), times width, to a line of n cells with indices that differ by step.
func (c *cells) spread(kind sim.Category, line [][sim.NumCategories]float32, step, n int, from, to, width float64) {
	from, to = max(from, 0), min(to, float64(n))
	for i := int(from); float64(i) < to; i++ {
		line[i*step][kind] += float32((min(to, float64(i+1)) - max(from, float64(i))) * width)
	}
}

const (
	cellLevels = 3    // number of heights with which a cell can be drawn
	leastCover = 0.08 // the least covered part of a cell that is drawn
)

// at returns the category that covers most of a cell, and the height with which the cell is drawn, from 0, which
// means empty, to cellLevels.
func (c *cells) at(row, col int) (kind, level int) {
	var total, most float32
	for k, cover := range c.cover[row*c.cols+col] {
		if total += cover; cover > most {
			kind, most = k, cover
		}
	}
	if total < leastCover {
		return 0, 0
	}
	return kind, min(max(int(total*cellLevels+0.5), 1), cellLevels)
}

// flush adds the cells to the rectangles of the categories that cover most of them, with heights
// by how full they are. Equal neighbours in a row become one rectangle.
func (c *cells) flush(into *byKind) {
	for row := range c.rows {
		for from := 0; from < c.cols; {
			kind, level := c.at(row, from)
			to := from + 1
			for ; to < c.cols; to++ {
				if k, l := c.at(row, to); k != kind || l != level {
					break
				}
			}
			if level > 0 {
				h := cell * float64(level) / cellLevels
				into[kind].add(c.left+float64(from)*cell, c.top+float64(row+1)*cell-h, float64(to-from)*cell, h)
			}
			from = to
		}
	}
}
