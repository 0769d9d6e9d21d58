package draw

import (
	"strings"
	"testing"

	"memtide/web/display"
	"memtide/web/lookup"
	"memtide/web/lookup/tracetest"
)

// TestLens checks that the lens shows a wait with its surroundings, its cause and an arrow. For other targets,
// and for waits so long that it would show the whole step, it draws nothing.
func TestLens(t *testing.T) {
	p := tracetest.Problem()
	tr := tracetest.Trace(p)
	tr.Gaps[0].Start = 150 * ms // the wait takes 5 ms of 195
	tr.Spans[6].End = 150 * ms
	m := NewIndex(p, tr)
	var s Scene
	if !m.Lens(&s, lookup.Target{Kind: lookup.OnGap, Index: 0}, 324) {
		t.Fatal("there is no lens of a wait of 5 ms in 195")
	}
	var b strings.Builder
	if err := s.WriteSVG(&b, display.SVGOptions{ID: "lens"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">5 ms<", ">compute<", ">to device ↑<", ">conv1<", "<title"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the lens has no %s:\n%s", want, b.String())
		}
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		for k := g.From; k < g.To; k += 2 {
			if x := s.Nums[k]; g.Op != display.OpRects && (x < 0 || float64(x) > 324) {
				t.Errorf("something is drawn at %v; want it between 0 and 324", x)
			}
		}
	}
	for _, not := range []lookup.Target{{}, {Kind: lookup.OnSpan, Index: 0}, {Kind: lookup.OnStage, Index: 1},
		{Kind: lookup.OnGap, Index: 9}} {
		if m.Lens(&s, not, 324) || s.Items() > 0 {
			t.Errorf("there is a lens of %+v, with %d items; want none", not, s.Items())
		}
	}
	tr.Gaps[0].Start = 95 * ms
	if NewIndex(p, tr).Lens(&s, lookup.Target{Kind: lookup.OnGap, Index: 0}, 324) {
		t.Error("a wait of 60 ms in 195 has a lens, which would show the whole step")
	}
}
