package draw

import (
	"cmp"
	"math"
	"strings"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/tell"
)

// stripStep is the least width of a bar of the strip with its space. If there are too many stages, several share a bar.
const stripStep = 3.0

// bar is a bar of a strip, for one or several stages or operations.
type bar struct {
	first, last int  // the stages or operations, both included
	at          int  // the largest of them
	slot        int  // index among the bars for which there is room
	muted       bool // both sides of a comparison have the same decision
	x, w        float64
}

// barsOf returns the bars for n things, numbered from 0; space is the largest space between two bars.
func barsOf(f *frame, n int, space float64) []bar {
	bars := make([]bar, min(n, int((f.right-f.left)/stripStep)))
	step := (f.right - f.left) / float64(len(bars))
	space = math.Min(space, step/4)
	for i := range bars {
		bars[i] = bar{first: i * n / len(bars), last: (i+1)*n/len(bars) - 1, slot: i,
			x: f.left + float64(i)*step + space/2, w: step - space}
	}
	return bars
}

// largest returns the thing of a bar that has the largest size, or the first of several.
func (b *bar) largest(size func(k int) engine.Bytes) int {
	at := b.first
	for k := b.first + 1; k <= b.last; k++ {
		if size(k) > size(at) {
			at = k
		}
	}
	return at
}

// bars returns the bars of m's stages, which count from 1.
func (m *Index) bars(f *frame) (bars []bar) {
	for _, b := range barsOf(f, m.places(f), 2) {
		b.first, b.last = b.first+1, b.last+1
		if f.Beside == nil || m.alongside(f, &b) {
			b.at = b.largest(func(k int) engine.Bytes { return m.Sizes[k-1] })
			bars = append(bars, b)
		}
	}
	return bars
}

// stripBox returns the upper and the lower edge of the bars, between the names of groups and the letters.
func stripBox(height float64) (top, bottom float64) {
	top = bracketRoom
	if height < 76 {
		top = titleLine
	}
	return top, math.Max(height-lineHeight-2, top+4)
}

// outlineBar outlines the bar of stage k, if there is one.
func (m *Index) outlineBar(s *Scene, f *frame, k int, st display.Style) {
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

// alignment returns the alignment of m's layers with the other side's.
func (m *Index) alignment(b *Beside) Alignment {
	if b.Layers == nil {
		return Align(m, b.Model)
	}
	return b.Layers
}

// places returns the number of columns of the strip.
func (m *Index) places(f *frame) int {
	if f.Beside == nil {
		return len(m.Sizes)
	}
	return len(m.alignment(f.Beside))
}

// alongside converts a bar of columns to one of layers, and mutes it if the other side has the
// same decisions there. It reports false if m has no layer in these columns.
func (m *Index) alongside(f *frame, b *bar) bool {
	al, first, last := m.alignment(f.Beside), 0, 0
	b.muted = true
	for i := b.first - 1; i < b.last; i++ {
		mine, other := al[i][0], al[i][1]
		if mine > 0 {
			first, last = cmp.Or(first, mine), mine
		}
		b.muted = b.muted && !m.Differs(f.Beside.Model, mine, other)
	}
	b.first, b.last = first, last
	return first > 0
}

// largest returns the size of the highest bar of the strip, of both sides of a comparison.
func (m *Index) largest(f *frame) (most engine.Bytes) {
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

// Differs reports whether layer k of m and layer j of o are treated differently, by a decision or by a framework, or
// whether one of them does not exist (0).
func (m *Index) Differs(o *Index, k, j int) bool {
	return k == 0 || j == 0 || m.Deed(k) != o.Deed(j)
}

// bracketRoom is the room above the bars of the strip, for the names of groups.
const bracketRoom = 36.0

// barHeight returns the height of the bar of stage k.
func (m *Index) barHeight(f *frame, k int) float64 {
	top, bottom := stripBox(f.Height)
	return 2 + (bottom-top-2)*float64(m.Sizes[k-1])/math.Max(float64(m.largest(f)), 1)
}

// collectBar adds a bar to the slices that have the colours of a decision.
func (s *Scene) collectBar(d sim.Decision, x, y, w, h float64) {
	switch d {
	case sim.Recompute | sim.Offload: // upper half offloaded, lower half recomputed
		s.slices[sim.SpanOffload].add(x, y, w, h/2)
		s.slices[sim.SpanRecompute].add(x, y+h/2, w, h-h/2)
	case sim.Recompute:
		s.slices[sim.SpanRecompute].add(x, y, w, h)
	case sim.Offload:
		s.slices[sim.SpanOffload].add(x, y, w, h)
	default:
		s.slices[sim.SpanForward].add(x, y, w, h)
	}
}

// letters returns the abbreviation of a decision: K, R, O or RO.
func letters(d sim.Decision) string { return strings.ReplaceAll(tell.DecisionLetter(d), "+", "") }
