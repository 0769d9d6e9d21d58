package draw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/lookup"
)

// smallFlame returns a graph in which main calls step, which has all bytes, and step calls left and right.
func smallFlame() *Flame {
	return NewFlame([]FlameCall{
		{"all", 100, UseActivations, 0}, {"main", 100, UseActivations, 0}, {"step", 100, UseActivations, 1},
		{"left", 60, UseActivations, 2}, {"leaf", 10, UseTemporaries, 3}, {"right", 30, UseWeights, 2},
	})
}

func flameView(width float64, zoom int) View {
	return View{Width: width, Selected: lookup.Target{Kind: lookup.OnCall, Index: zoom}, Cursor: NoCursor}
}

// TestFlameHit checks that a call is hit where it is drawn: below its caller, and as wide as its bytes. The call
// that the graph is zoomed to has the whole width.
func TestFlameHit(t *testing.T) {
	x := smallFlame()
	for _, c := range []struct {
		zoom   int
		px, py float64
		want   string
	}{
		{0, 5, 5, "all"}, {0, 5, flameRow + 5, "main"}, {0, 590, 3*flameRow + 5, "left"},
		{0, 610, 3*flameRow + 5, "right"},
		{0, 950, 3*flameRow + 5, ""}, {0, 50, 4*flameRow + 5, "leaf"}, {0, 102, 4*flameRow + 5, "leaf"},
		{0, 300, 4*flameRow + 5, ""},
		{3, 990, 5, "left"}, {3, 100, flameRow + 5, "leaf"}, {5, 500, 5, "right"}, {5, 500, flameRow + 5, ""},
		{99, 5, 5, "all"},
	} {
		got := ""
		if h, _ := x.Hit(Flames, flameView(1000, c.zoom), c.px, c.py); h.Kind == lookup.OnCall {
			got = x.calls[h.Index].Name
		}
		if got != c.want {
			t.Errorf("zoomed to %d, at %v, %v: %q, want %q", c.zoom, c.px, c.py, got, c.want)
		}
	}
	if got := x.calls[x.Start()].Name; got != "step" {
		t.Errorf("it begins at %q; want step, through which all goes", got)
	}
}

// TestFlameBeside checks that Beside goes from call to call, and returns the same call if there is no other in
// that direction.
func TestFlameBeside(t *testing.T) {
	x := smallFlame()
	for _, c := range []struct{ from, right, down, want int }{
		{2, 0, 1, 3}, {3, 1, 0, 5}, {5, 1, 0, 5}, {5, -1, 0, 3}, {3, -1, 0, 3}, {3, 0, -1, 2}, {0, 0, -1, 0},
		{4, 0, 1, 4}, {0, 1, 0, 0}, {-7, 0, 1, 1},
	} {
		if got := x.Beside(c.from, c.right, c.down); got != c.want {
			t.Errorf("from %d, %d to the right and %d down: %d, want %d", c.from, c.right, c.down, got, c.want)
		}
	}
}

// TestFlameIsBounded checks that the size of a scene is bounded by its pixels, whatever the number and the depth
// of the calls.
func TestFlameIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 50, 3000, 100_000} {
		calls := []FlameCall{{"all", 1 << 40, UseUnknown, 0}}
		left := []engine.Bytes{1 << 40}
		for len(calls) < n {
			up := rng.IntN(len(calls))
			if rng.IntN(3) > 0 {
				up = len(calls) - 1 // makes the graph deep
			}
			b := engine.Bytes(rng.Int64N(int64(left[up])/4 + 1))
			left[up] -= b
			calls, left = append(calls, FlameCall{fmt.Sprint("call", len(calls)), b, Use(rng.IntN(int(NumUses))),
				up}), append(left, b)
		}
		x := NewFlame(calls)
		for _, width := range []float64{20, 366, 1040} {
			var s Scene
			x.Draw(&s, Flames, flameView(width, 0))
			rows := int(s.Height / flameRow)
			if most := 2 * int(NumUses) * int(width+1) * rows; s.Items() > most || rows > mostFlame {
				t.Errorf("%d calls, %v wide: %d items in %d rows; want at most %d in %d", n, width, s.Items(), rows,
					most, mostFlame)
			}
			for _, g := range s.Groups {
				for i := g.From; g.Op == display.OpRects && i < g.To; i += 4 {
					if x0, y0, w, h := s.Nums[i], s.Nums[i+1], s.Nums[i+2], s.Nums[i+3]; x0 < 0 ||
						float64(x0+w) > width+1 || y0 < 0 || float64(y0+h) > s.Height {
						t.Fatalf("%d calls, %v wide: a call at %v, %v of %v by %v is outside", n, width, x0, y0, w, h)
					}
				}
			}
		}
	}
}

// TestFlameSVG checks that the SVG of a graph is well-formed whatever the names of its calls are, and that it has
// the name of every call that is wide enough.
func TestFlameSVG(t *testing.T) {
	x := NewFlame([]FlameCall{{"all", 100, UseUnknown, 0}, {"a<b>&\"'\x00\xff", 50, UseOptimizer, 0},
		{"net.py:41 forward", 50, UseActivations, 0}})
	var s Scene
	var b bytes.Buffer
	x.Draw(&s, Flames, flameView(800, 0))
	if err := s.WriteSVG(&b, display.SVGOptions{Standalone: true}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for d := xml.NewDecoder(&b); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
	if !strings.Contains(text, "net.py:41 forward") || strings.Contains(text, "NaN") {
		t.Errorf("the graph does not name the call with room, or a coordinate is no number:\n%s", text)
	}
	if got, want := x.Sentence(lookup.Target{Kind: lookup.OnCall, Index: 2}),
		"net.py:41 forward: 50 B, 50 % of all"; got != want {
		t.Errorf("the sentence is %q, want %q", got, want)
	}
}
