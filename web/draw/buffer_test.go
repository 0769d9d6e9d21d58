package draw

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

// decode reads a command buffer as paint.js does and lists what it paints.
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
			if op(head[0]) == opTexts {
				from, length := le.Uint32(b[at+8:]), uint32(le.Uint16(b[at+12:]))
				fmt.Fprintf(&out, " %v,%v %d %d %q", f(at), f(at+4), b[at+14], b[at+15], string(utf16.Decode(texts[from:from+length])))
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
	var s list
	s.reset(100, 50)
	s.rect(fillOf(Forward), 1, 2, 3, 4)
	s.rect(fillOf(Forward), 5, 6, 7, 8)
	s.rect(style{fill: Recompute, stroke: noRole, pattern: hatch, lines: LineRecompute}, 9, 10, 11, 12)
	s.line(strokeOf(Grid, 1.5), 0, 0, 1, 1, 2, 0)
	s.text(Ink, 1, 2, middle, "ä\U0001F600b") // the face is two UTF-16 units
	s.addText(Ink, 3, 4, text{s: "end", anchor: end, bold: true})
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

// Everything survives packing: as many groups and texts come out as go in.
func TestBufferOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var s list
		s.reset(800, 600)
		for range r.IntN(40) {
			x, y := r.Float64()*800, r.Float64()*600
			switch r.IntN(4) {
			case 0:
				s.rect(fillOf(Role(r.IntN(int(NumRoles)))), x, y, 5, 5)
			case 1:
				s.line(strokeOf(Ink, 1), float32(x), float32(y), 0, 0)
			case 2:
				s.path(opArea, fillOf(Over), []float32{float32(x), float32(y), 0, 0, 1, 1})
			default:
				s.addText(Ink, x, y, text{s: strings.Repeat("ä\U0001F600", r.IntN(4)), anchor: anchor(r.IntN(3)), bold: r.IntN(2) == 0, large: r.IntN(2) == 0, halo: r.IntN(2) == 0})
			}
		}
		got, err := decode(s.AppendBuffer(nil))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(got, "group"); n != len(s.groups) {
			t.Errorf("%d groups decoded, want %d", n, len(s.groups))
		}
		for _, x := range s.texts {
			if !strings.Contains(got, fmt.Sprintf("%q", x.s)) {
				t.Errorf("text %q is missing", x.s)
			}
		}
	}
}

// The painter in JavaScript has the same constants, and stays small.
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
		fmt.Sprintf("RECTS = %d, AREA = %d, LINE = %d, TEXTS = %d", opRects, opArea, opLine, opTexts),
		`SMALL = "` + fontCSS + `", LARGE = "` + strings.Replace(fontCSS, num(fontSize), num(largeSize), 1) + `"`,
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
