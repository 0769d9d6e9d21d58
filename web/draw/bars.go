package draw

import (
	"math"
	"memtide/engine"
	"memtide/web/display"
)

// stripStep is how wide a bar of the strip is with the space beside it, at
// least; where there are more stages, several share a bar.
const stripStep = 3.0

// bar is one bar of the strip: the stages (first, last] of which at is the largest.
type bar struct {
	first, last int // 1..n, both included
	at          int // the stage of the largest size
	slot        int // of those there is room for
	muted       bool
	x, w        float64
}

func (m *Model) bars(f *frame) []bar {
	n, count := m.places(f), m.columns(f)
	bars := make([]bar, 0, count)
	for i := range count {
		b := bar{first: i*n/count + 1, last: (i + 1) * n / count, slot: i}
		if f.Beside != nil && !m.alongside(f, &b) {
			continue
		}
		b.at = b.first
		for k := b.first; k <= b.last; k++ {
			if m.Sizes[k-1] > m.Sizes[b.at-1] {
				b.at = k
			}
		}
		step := (f.right - f.left) / float64(count)
		space := math.Min(2, step/4)
		b.x, b.w = f.left+float64(i)*step+space/2, step-space
		bars = append(bars, b)
	}
	return bars
}

// columns returns how many bars there is room for.
func (m *Model) columns(f *frame) int {
	return min(m.places(f), int((f.right-f.left)/stripStep))
}

// stripBox returns the room of the bars: between the names of the groups and the letters.
func stripBox(height float64) (top, bottom float64) {
	top = bracketRoom
	if height < 76 {
		top = titleLine
	}
	return top, math.Max(height-lineHeight-2, top+4)
}

// outlineBar outlines the bar of stage k, if there is one.
func (m *Model) outlineBar(s *Scene, f *frame, k int, st display.Style) {
	if k == 0 {
		return
	}
	_, bottom := stripBox(f.Height)
	for _, b := range m.bars(f) {
		if b.first <= k && k <= b.last {
			h := m.barHeight(f, b.at)
			s.Outline(st, b.x-1, bottom-h-1, b.w+2, h+2)
		}
	}
}

// alignment returns the columns of the strip that m shares with the other side.
func (m *Model) alignment(b *Beside) *Alignment {
	if b.Layers == nil {
		return Align(m, b.Model)
	}
	return b.Layers
}

// places returns how many layers the strip has room for.
func (m *Model) places(f *frame) int {
	if f.Beside == nil {
		return len(m.Sizes)
	}
	return m.alignment(f.Beside).Columns()
}

// alongside turns a bar of columns into one of layers, and mutes it if the other
// side does the same there: the comparison marks what differs. It is false if m
// has none of these layers.
func (m *Model) alongside(f *frame, b *bar) bool {
	al, first, last := m.alignment(f.Beside), 0, 0
	b.muted = true
	for i := b.first - 1; i < b.last; i++ {
		mine, other := al.Layers(i)
		if mine > 0 {
			if first == 0 {
				first = mine
			}
			last = mine
		}
		if m.Differs(f.Beside.Model, mine, other) {
			b.muted = false
		}
	}
	b.first, b.last = first, last
	return first > 0
}

// largest returns the size of the highest bar of the strip.
func (m *Model) largest(f *frame) (most engine.Bytes) {
	for _, size := range m.Sizes {
		most = max(most, size)
	}
	if f.Beside != nil {
		for _, size := range f.Beside.Model.Sizes {
			most = max(most, size)
		}
	}
	return most
}

// Differs reports whether layer k of m is treated in another way than layer j of o,
// or exists in only one of the two.
func (m *Model) Differs(o *Model, k, j int) bool {
	return k == 0 || j == 0 || m.Decision(k) != o.Decision(j)
}

// bracketRoom is the room above the bars of the strip, for the names of groups.
const bracketRoom = 36.0

// barHeight returns the height of the bar of stage k.
func (m *Model) barHeight(f *frame, k int) float64 {
	top, bottom := stripBox(f.Height)
	return 2 + (bottom-top-2)*float64(m.Sizes[k-1])/math.Max(float64(m.largest(f)), 1)
}
