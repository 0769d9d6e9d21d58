package draw

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/format"
)

// mostLines is the largest number of ranks whose memory is drawn as a line for each. If there are more, all but
// the fullest one share a band.
const mostLines = 8

// lastAt returns the index of the level at a moment.
func lastAt(list []level, at time.Duration) int {
	return max(0, sort.Search(len(list), func(i int) bool { return list[i].at > at })-1)
}

// drawMemory draws the memory of every rank over time, with thick, labelled lines for the fullest one and the chosen
// one, and the line of a card's memory.
func (x *Passes) drawMemory(s *Scene, f *frame) {
	top, bottom := x.bottom()+passesSpace, f.Height-8
	reserved := x.ranks[x.full].Reserved
	most := max(x.highest(), 1)
	if x.beside != nil {
		most = max(most, x.beside.highest())
	}
	shown := float64(x.room) <= budgetShown*float64(most)
	if shown {
		most = max(most, x.room)
	}
	most += most / 8
	y := func(n engine.Bytes) float64 { return bottom - (bottom-top)*float64(n)/float64(most) }
	title := display.Text{S: "Memory of each rank", Bold: true}
	s.AddText(display.Ink, 0, top-6, title)
	for _, k := range format.ByteTicks(most, 4) {
		at := y(k.At)
		s.Line(display.StrokeOf(display.Grid, 1), f.left, at, f.right, at)
		s.Text(display.Muted, f.left-8, at+4, display.End, k.Label)
	}
	x.drawOthers(s, f, y)
	line := display.StrokeOf(display.Ink, 2.5)
	if max(x.most[x.full], reserved) > x.room {
		line = display.StrokeOf(display.Over, 2.5)
	}
	highest, _ := x.drawLine(s, f, x.full, line, y)
	limit := top + 9
	if shown {
		limit = y(x.room)
		s.Line(budgetLine, f.left, limit, f.right, limit)
	}
	s.placed = s.placed[:0]
	if x.picked != x.full {
		most, at := x.drawLine(s, f, x.picked, display.StrokeOf(display.Forward, 2.5), y)
		name := display.Text{S: fmt.Sprintf("rank %d: %s", x.picked, format.Bytes(most)), Bold: true}
		defer s.place(f, display.Forward, name, true, spot{at, y(most) + 16, display.Middle},
			spot{at, y(most) - 5, display.Middle}) // behind the other labels
	}
	room := f.right - f.left - 8
	card := display.Text{S: format.Bytes(x.room) + " of a card, without CUDA", Bold: true}
	if card.Width() > room/2 {
		card.S = format.Bytes(x.room) + " without CUDA"
	}
	words := fmt.Sprintf("rank %d, the fullest: %s", x.full, format.Bytes(highest))
	if reserved > x.most[x.full] {
		at := y(reserved)
		s.Line(display.DashedOf(line.Stroke, 1, display.DashGhost), f.left, at, f.right, at)
		if more := fmt.Sprintf("%s, with the allocator up to %s", words,
			format.Bytes(reserved)); title.Width()+display.TextWidth(more) < room {
			words = more
		}
	}
	s.plate(f, display.Budget, card, spot{f.right - 4, limit - 4, display.End}) // over all lines, which may be near
	s.AddText(line.Stroke, title.Width()+12, top-6, display.Text{S: words, Bold: true})
}

// highest returns the most memory that a rank holds, or that the allocator reserves for the fullest one.
func (x *Passes) highest() engine.Bytes { return max(slices.Max(x.most), x.ranks[x.full].Reserved) }

// drawOthers draws the memory of all ranks but the fullest one: as lines or, if there are many, as a band from the
// least to the most.
func (x *Passes) drawOthers(s *Scene, f *frame, y func(engine.Bytes) float64) {
	if len(x.ranks) <= mostLines {
		for r := range x.ranks {
			if r != x.full {
				x.drawLine(s, f, r, display.StrokeOf(display.Muted, 1), y)
			}
		}
		return
	}
	var low, high []engine.Bytes
	var edges []time.Duration // the times at the edges of the columns of pixels
	for px := f.left; px < f.right+1; px++ {
		edges = append(edges, f.time(px))
	}
	for r := range x.ranks {
		if r == x.full {
			continue
		}
		x.columns(edges, r, func(i int, least, most engine.Bytes) {
			if i == len(low) {
				low, high = append(low, least), append(high, most)
			}
			low[i], high[i] = min(low[i], least), max(high[i], most)
		})
	}
	area := make([]float64, 0, 4*len(low))
	for i, n := range high {
		area = append(area, f.left+float64(i), y(n))
	}
	for i := len(low) - 1; i >= 0; i-- {
		area = append(area, f.left+float64(i), y(low[i]))
	}
	s.Path(display.OpArea, display.FillOf(display.Grid), area)
	if len(low) > 0 {
		s.placed = s.placed[:0]
		words := display.Text{S: "the other ranks lie between"}
		s.place(f, display.Muted, words, true, spot{f.left + 4, y(low[0]) - 4, display.Start})
	}
}

// drawLine draws the memory of a rank, and returns its peak in the view and the x of it.
func (x *Passes) drawLine(s *Scene, f *frame, r int, st display.Style, y func(engine.Bytes) float64) (
	highest engine.Bytes, at float64) {
	list, end := x.level[r], min(f.To, x.end)
	for i := lastAt(list, f.From); i < len(list) && list[i].at < end; i++ {
		if list[i].bytes > highest {
			highest, at = list[i].bytes, f.clip(f.x(int64(list[i].at)))
		}
	}
	s.Path(display.OpLine, st, steps(f, nil, end, y(x.ranks[r].Base), list,
		func(l *level) time.Duration { return l.at }, func(l *level) float64 { return y(l.bytes) }))
	return highest, at
}

// columns calls emit for each column of pixels with the least and the most memory of a rank.
func (x *Passes) columns(edges []time.Duration, r int, emit func(i int, least, most engine.Bytes)) {
	list := x.level[r]
	i := lastAt(list, edges[0])
	for n, end := range edges[1:] {
		from := edges[n]
		if from >= x.end {
			return
		}
		for i+1 < len(list) && list[i+1].at <= from {
			i++
		}
		least, most := list[i].bytes, list[i].bytes
		for k := i + 1; k < len(list) && list[k].at < end; k++ {
			least, most = min(least, list[k].bytes), max(most, list[k].bytes)
		}
		emit(n, least, most)
	}
}
