package display

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
)

// decode decodes a command buffer as paint.js does, and returns a list of its items.
func decode(b []byte) (string, error) {
	le := binary.LittleEndian
	if len(b) < 20 || le.Uint32(b) != bufferMagic {
		return "", fmt.Errorf("no magic")
	}
	f := func(at int) float32 { return math.Float32frombits(le.Uint32(b[at:])) }
	texts := utf16.Encode([]rune(string(b[len(b)-int(le.Uint32(b[16:])):])))
	var out strings.Builder
	fmt.Fprintf(&out, "scene %v %v\n", f(4), f(8))
	at := 20
	for range le.Uint32(b[12:]) {
		head, n := b[at:at+6], int(le.Uint32(b[at+12:]))
		fmt.Fprintf(&out, "group %v %v:", head, f(at+8))
		at += 16
		for end := at + 4*n; at < end; {
			if Op(head[0]) == OpTexts {
				from, length := le.Uint32(b[at+8:]), uint32(le.Uint16(b[at+12:]))
				fmt.Fprintf(&out, " %v,%v %d %d %q", f(at), f(at+4), b[at+14], b[at+15],
					string(utf16.Decode(texts[from:from+length])))
				at += 16
				continue
			}
			fmt.Fprintf(&out, " %v", f(at))
			at += 4
		}
		out.WriteString("\n")
	}
	if at != len(b)-int(le.Uint32(b[16:])) {
		return "", fmt.Errorf("groups end at %d of %d", at, len(b))
	}
	return out.String(), nil
}

func TestBuffer(t *testing.T) {
	var s List
	s.Reset(100, 50)
	s.Rect(FillOf(Forward), 1, 2, 3, 4)
	s.Rect(FillOf(Forward), 5, 6, 7, 8)
	s.Rect(Style{Fill: Recompute, Stroke: NoRole, Pattern: Hatch, Lines: LineRecompute}, 9, 10, 11, 12)
	s.Line(StrokeOf(Grid, 1.5), 0, 0, 1, 1, 2, 0)
	s.Text(Ink, 1, 2, Middle, "ä\U0001F600b") // the face is two UTF-16 units
	s.AddText(Ink, 3, 4, Text{S: "end", Anchor: End, Bold: true})
	got, err := decode(s.AppendBuffer([]byte("before it"))[len("before it"):])
	want := `scene 100 50
group [1 0 255 0 255 0] 0: 1 2 3 4 5 6 7 8
group [1 1 255 1 17 0] 0: 9 10 11 12
group [3 255 11 0 255 0] 1.5: 0 0 1 1 2 0
group [4 9 255 0 255 0] 0: 1,2 1 0 "ä😀b" 3,4 2 1 "end"
`
	if err != nil || got != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
}

// TestBufferOfAll checks that all groups and texts survive encoding and decoding.
func TestBufferOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var s List
		s.Reset(800, 600)
		for range r.IntN(40) {
			x, y := r.Float64()*800, r.Float64()*600
			switch r.IntN(4) {
			case 0:
				s.Rect(FillOf(Role(r.IntN(int(NumRoles)))), x, y, 5, 5)
			case 1:
				s.Line(StrokeOf(Ink, 1), x, y, 0, 0)
			case 2:
				s.Path(OpArea, FillOf(Over), []float64{x, y, 0, 0, 1, 1})
			default:
				s.AddText(Ink, x, y, Text{S: strings.Repeat("ä\U0001F600", r.IntN(4)), Anchor: Anchor(r.IntN(3)),
					Bold: r.IntN(2) == 0, Large: r.IntN(2) == 0, Halo: r.IntN(2) == 0})
			}
		}
		got, err := decode(s.AppendBuffer(nil))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(got, "group"); n != len(s.Groups) {
			t.Errorf("%d groups decoded, want %d", n, len(s.Groups))
		}
		for _, x := range s.Texts {
			if !strings.Contains(got, fmt.Sprintf("%q", x.S)) {
				t.Errorf("text %q is missing", x.S)
			}
		}
	}
}

// TestPainterAgrees checks that paint.js has the same constants as this package and is smaller than 6.5 KiB.
func TestPainterAgrees(t *testing.T) {
	b, err := os.ReadFile("../static/paint.js")
	if err != nil {
		t.Fatal(err)
	}
	js := string(b)
	if len(js) >= 13<<9 {
		t.Errorf("paint.js has %d bytes, want less than 6.5 KiB", len(js))
	}
	var lists []string
	for _, d := range dashes {
		lists = append(lists, "["+strings.ReplaceAll(d, " ", ", ")+"]")
	}
	want := []string{
		fmt.Sprintf("MAGIC = 0x%x", bufferMagic),
		"HEADER = 20, GROUP = 16, NONE = 255",
		fmt.Sprintf("RECTS = %d, AREA = %d, LINE = %d, TEXTS = %d", OpRects, OpArea, OpLine, OpTexts),
		`SMALL = "` + fontCSS + `", LARGE = "` + strings.Replace(fontCSS, num(FontSize), num(largeSize), 1) + `"`,
		fmt.Sprintf("SURFACE = %d;", Surface),
		"lineWidth = " + num(haloWidth) + ";",
		"DASHES = [" + strings.Join(lists, ", ") + "]",
	}
	for _, w := range want {
		if !strings.Contains(js, w) {
			t.Errorf("paint.js does not say %q", w)
		}
	}
}
