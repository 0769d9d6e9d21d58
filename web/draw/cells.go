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

// byKind are rectangles by kind; the last are slivers of waiting.
type byKind [lookup.NumKinds + 1]rects

// cell is the side of a cell in pixels: what small blocks are added up in.
const cell = 3.0

// cells add up what blocks that are too small to be seen cover of a grid.
type cells struct {
	left, top  float64
	cols, rows int
	cover      [][sim.NumCategories]float32 // of each cell, row by row: the part of it that a category covers
}

// reset makes an empty grid for a plot.
func (c *cells) reset(left, top, right, bottom float64) {
	c.left, c.top = left, top
	c.cols, c.rows = max(int(math.Ceil((right-left)/cell)), 1), max(int(math.Ceil((bottom-top)/cell)), 1)
	c.cover = append(c.cover[:0], make([][sim.NumCategories]float32, c.cols*c.rows)...)
}

// add takes in a block of the plot: an upright one in the column of its middle, another in the row of its middle.
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

// spread adds what [from, to) covers of a line of n cells, which are step apart, with a width.
func (c *cells) spread(kind sim.Category, line [][sim.NumCategories]float32, step, n int, from, to, width float64) {
	from, to = max(from, 0), min(to, float64(n))
	for i := int(from); float64(i) < to; i++ {
		line[i*step][kind] += float32((min(to, float64(i+1)) - max(from, float64(i))) * width)
	}
}

// cellLevels is how many heights a cell can be drawn with, and leastCover the part of a cell below which it stays
// empty.
const (
	cellLevels = 3
	leastCover = 0.08
)

// look returns what covers most of a cell, and how high it is drawn; level 0: it is empty.
func (c *cells) look(row, col int) (kind, level int) {
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

// flush draws every cell as what covers most of it, as high as that is full.
// Neighbours in a row that are alike become one rectangle.
func (c *cells) flush(into *byKind) {
	for row := range c.rows {
		for from := 0; from < c.cols; {
			kind, level := c.look(row, from)
			to := from + 1
			for ; to < c.cols; to++ {
				if k, l := c.look(row, to); k != kind || l != level {
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
