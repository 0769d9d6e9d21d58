package draw

import (
	"bytes"
	"strings"
	"testing"

	"memtide/engine/enginetest/golden"
	"memtide/web/display"
)

// TestHeaded checks that the picture below a heading is the same display list, moved, and that the texts of the
// heading keep the margin to every edge.
func TestHeaded(t *testing.T) {
	var picture, s Scene
	smallModel().Figure(&picture, View{Width: 640, Cursor: NoCursor})
	long := strings.Repeat("wide ", 50)
	Headed(&s, &picture, Heading{Title: long, Lines: []string{"first", "B: " + long, strings.Repeat("W", 200)}})
	if s.Width != picture.Width+2*FileMargin || s.Title != picture.Title || s.Desc != picture.Desc {
		t.Errorf("width %v, %q, %q; want those of the picture and two margins", s.Width, s.Title, s.Desc)
	}
	first := len(s.Groups) - len(picture.Groups)
	dy := s.Height - FileMargin - picture.Height
	for i, want := range picture.Groups {
		got := s.Groups[first+i]
		if got.Op != want.Op || got.Style != want.Style || got.To-got.From != want.To-want.From ||
			got.Last-got.First != want.Last-want.First {
			t.Fatalf("group %d is %+v, want %+v", i, got, want)
		}
		for j := range want.To - want.From {
			move := []float32{FileMargin, float32(dy), 0, 0}[j%4]
			if want.Op != display.OpRects {
				move = []float32{FileMargin, float32(dy)}[j%2]
			}
			if g, w := s.Nums[got.From+j], picture.Nums[want.From+j]+move; g != w {
				t.Errorf("group %d, number %d is %v, want %v", i, j, g, w)
			}
		}
		for j := range want.Last - want.First {
			if g, w := s.Texts[got.First+j], picture.Texts[want.First+j]; g != w {
				t.Errorf("group %d, text %d is %v, want %v", i, j, g, w)
			}
		}
	}
	lines := s.Texts[:s.Groups[first-1].Last]
	if len(lines) < 5 || !lines[0].Bold || !strings.HasSuffix(lines[0].S, "…") || lines[1].S != "first" ||
		lines[2].Bold || !strings.HasSuffix(lines[len(lines)-1].S, "W…") {
		t.Errorf("the heading is %v; want a title that is cut, two lines, one of them broken, and a word that is cut",
			lines)
	}
	for i, l := range lines {
		x, y := float64(s.Nums[2*i]), float64(s.Nums[2*i+1])
		if x != FileMargin || x+display.TextWidth(l.S) > s.Width-FileMargin || y-display.FontSize < FileMargin ||
			y > dy {
			t.Errorf("%q stands at %v, %v of a heading of %v by %v", l.S, x, y, s.Width, dy)
		}
	}
}

func TestHeadedGolden(t *testing.T) {
	var legend, s Scene
	Legend(&legend, 320, smallModel())
	Headed(&s, &legend, Heading{Title: "VGG <16>",
		Lines: []string{"A: Greedy · budget 4 GiB", "B: Rotor · budget 4 GiB", "B − A: step +12.0 ms"}})
	var b bytes.Buffer
	dark := display.Dark
	if err := s.WriteSVG(&b, display.SVGOptions{Standalone: true, Theme: &dark, Surface: true}); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/heading.svg", b.Bytes())
	Headed(&s, &legend, Heading{})
	if s.Height != legend.Height+2*FileMargin {
		t.Errorf("without a heading it is %v high, want the picture's %v and two margins", s.Height, legend.Height)
	}
}
