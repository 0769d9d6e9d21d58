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

const numKindsOfCells = int(sim.NumCategories)

// cells add up what blocks that are too small to be seen cover of a grid, by
// category. A thin block costs a few additions however long it is: a column (or
// row) of cells holds differences, which become sums in the end.
type cells struct {
	left, top  float64
	cols, rows int
	stride     int       // of a row of cells: two more than columns
	down       []float32 // differences along columns: [kind][row][col]
	along      []float32 // differences along rows: [kind][row][col]
	used       [numKindsOfCells]bool

	total, most []float32 // of a row of cells: how full, and by what covers most
	kind        []uint8   // what that is
	running     []float32
}

// reset makes an empty grid for a plot.
func (c *cells) reset(left, top, right, bottom float64) {
	c.left, c.top = left, top
	c.cols, c.rows = max(int(math.Ceil((right-left)/cell)), 1), max(int(math.Ceil((bottom-top)/cell)), 1)
	c.stride = c.cols + 2
	n := numKindsOfCells * c.stride * (c.rows + 2)
	if cap(c.down) < n {
		c.down, c.along = make([]float32, n), make([]float32, n)
	}
	c.down, c.along = c.down[:n], c.along[:n]
	clear(c.used[:])
}

// begin clears a category when it is met first.
func (c *cells) begin(kind int) {
	size := c.stride * (c.rows + 2)
	clear(c.down[kind*size : (kind+1)*size])
	clear(c.along[kind*size : (kind+1)*size])
	c.used[kind] = true
}

// add takes in a block of the plot.
func (c *cells) add(kind int, x, y, w, h float64) {
	if !c.used[kind] {
		c.begin(kind)
	}
	base := kind * c.stride * (c.rows + 2)
	x, y = (x-c.left)/cell, (y-c.top)/cell
	w, h = w/cell, h/cell
	if w <= h { // upright: all of it in the column of its middle
		col := min(max(int(x+w/2), 0), c.cols-1)
		spread(c.down[base+col:], c.stride, c.rows, y, y+h, float32(w))
		return
	}
	row := min(max(int(y+h/2), 0), c.rows-1)
	spread(c.along[base+row*c.stride:], 1, c.cols, x, x+w, float32(h))
}

// spread adds weight to what [from, to) covers of a line of n cells, as
// differences; the cells are step apart.
func spread(line []float32, step, n int, from, to float64, weight float32) {
	from, to = max(from, 0), min(to, float64(n))
	if from >= to {
		return
	}
	i, j := int(from), int(to)
	if i == j {
		v := float32(to-from) * weight
		line[i*step] += v
		line[(i+1)*step] -= v
		return
	}
	v := (1 - float32(from-float64(i))) * weight
	line[i*step] += v
	line[(i+1)*step] += weight - v
	v = float32(to-float64(j)) * weight
	line[j*step] -= weight - v
	line[(j+1)*step] -= v
}

// cellLevels is how many heights a cell can be drawn with.
const cellLevels = 3

// flush draws every cell as what covers most of it, as high as that is full.
// Neighbours in a row that are alike become one rectangle.
func (c *cells) flush(into *byKind) {
	c.running = append(c.running[:0], make([]float32, numKindsOfCells*c.stride)...)
	c.total = append(c.total[:0], make([]float32, c.cols)...)
	c.most = append(c.most[:0], make([]float32, c.cols)...)
	c.kind = append(c.kind[:0], make([]uint8, c.cols)...)
	if c.used == [numKindsOfCells]bool{} {
		return
	}
	for row := range c.rows {
		c.sumRow(row)
		c.drawRow(into, row)
	}
}

// sumRow adds up what covers the cells of the next row.
func (c *cells) sumRow(row int) {
	clear(c.total)
	clear(c.most)
	size := c.stride * (c.rows + 2)
	for kind, used := range c.used {
		if used {
			at := kind*size + row*c.stride
			sumCells(c.down[at:at+c.cols], c.along[at:at+c.cols], c.running[kind*c.stride:][:c.cols], c.total, c.most,
				c.kind, uint8(kind))
		}
	}
}

func sumCells(down, along, running, total, most []float32, kinds []uint8, kind uint8) {
	along, running, total, most, kinds = along[:len(down)], running[:len(down)], total[:len(down)], most[:len(down)],
		kinds[:len(down)]
	var sum float32
	for i, d := range down {
		sum += along[i]
		r := running[i] + d
		running[i] = r
		v := r + sum
		total[i] += v
		if v > most[i] {
			most[i], kinds[i] = v, kind
		}
	}
}

// drawRow makes rectangles of the row that was added up.
func (c *cells) drawRow(into *byKind, row int) {
	kind, level, from := uint8(0), 0, 0
	for col := 0; col <= c.cols; col++ {
		k, l := uint8(0), 0
		if col < c.cols && c.total[col] >= leastCover {
			k, l = c.kind[col], min(max(int(c.total[col]*cellLevels+0.5), 1), cellLevels)
		}
		if k == kind && l == level {
			continue
		}
		if level > 0 {
			h := cell * float64(level) / cellLevels
			into[kind].add(c.left+float64(from)*cell, c.top+float64(row+1)*cell-h, float64(col-from)*cell, h)
		}
		kind, level, from = k, l, col
	}
}

// leastCover is the part of a cell below which it stays empty.
const leastCover = 0.08
