package draw

import (
	"bytes"
	"strings"
	"testing"
)

// Under a heading stands the same display list, moved; and nothing is nearer to an
// edge than the margin.
func TestHeaded(t *testing.T) {
	var picture, s Scene
	smallModel().Figure(&picture, View{Width: 640, Cursor: NoCursor})
	long := strings.Repeat("wide ", 50)
	Headed(&s, &picture, Heading{Title: long, Lines: []string{"first", "B: " + long, strings.Repeat("W", 200)}})
	if s.Width != picture.Width+2*FileMargin || s.Title != picture.Title || s.Desc != picture.Desc {
		t.Errorf("width %v, %q, %q; want those of the picture and two margins", s.Width, s.Title, s.Desc)
	}
	first := len(s.groups) - len(picture.groups)
	dy := s.Height - FileMargin - picture.Height
	for i, want := range picture.groups {
		got := s.groups[first+i]
		if got.op != want.op || got.style != want.style || got.to-got.from != want.to-want.from || got.last-got.first != want.last-want.first {
			t.Fatalf("group %d is %+v, want %+v", i, got, want)
		}
		for j := range want.to - want.from {
			move := []float32{FileMargin, float32(dy), 0, 0}[j%4]
			if want.op != opRects {
				move = []float32{FileMargin, float32(dy)}[j%2]
			}
			if g, w := s.nums[got.from+j], picture.nums[want.from+j]+move; g != w {
				t.Errorf("group %d, number %d is %v, want %v", i, j, g, w)
			}
		}
		for j := range want.last - want.first {
			if g, w := s.texts[got.first+j], picture.texts[want.first+j]; g != w {
				t.Errorf("group %d, text %d is %v, want %v", i, j, g, w)
			}
		}
	}
	lines := s.texts[:s.groups[first-1].last]
	if len(lines) < 5 || !lines[0].bold || !strings.HasSuffix(lines[0].s, "…") || lines[1].s != "first" || lines[2].bold || !strings.HasSuffix(lines[len(lines)-1].s, "W…") {
		t.Errorf("the heading is %v; want a title that is cut, two lines, one of them broken, and a word that is cut", lines)
	}
	for i, l := range lines {
		x, y := float64(s.nums[2*i]), float64(s.nums[2*i+1])
		if x != FileMargin || x+textWidth(l.s) > s.Width-FileMargin || y-fontSize < FileMargin || y > dy {
			t.Errorf("%q stands at %v, %v of a heading of %v by %v", l.s, x, y, s.Width, dy)
		}
	}
}

func TestHeadedGolden(t *testing.T) {
	var legend, s Scene
	Legend(&legend, 320, smallModel())
	Headed(&s, &legend, Heading{Title: "VGG <16>", Lines: []string{"A: Greedy · budget 4 GiB", "B: Rotor · budget 4 GiB", "B − A: step +12.0 ms"}})
	var b bytes.Buffer
	dark := Dark
	if err := s.WriteSVG(&b, SVGOptions{Standalone: true, Theme: &dark, Surface: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "heading.svg", b.Bytes())
	Headed(&s, &legend, Heading{})
	if s.Height != legend.Height+2*FileMargin {
		t.Errorf("without a heading it is %v high, want the picture's %v and two margins", s.Height, legend.Height)
	}
}
