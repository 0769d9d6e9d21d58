package display

// List is a display List: groups of rectangles, areas, lines and texts that
// are painted in order. Coordinates are CSS pixels, y grows downwards. Its zero
// value is empty; reuse one to save memory.
type List struct {
	Width, Height float64
	Title, Desc   string // accessible name and description; WriteSVG writes them

	Groups []group
	Nums   []float32 // coordinates of all groups
	Texts  []Text
}

// Op is what a group consists of.
type op uint8

const (
	OpRects op = iota + 1 // x, y, width, height each
	OpArea                // one closed polygon: x, y per corner
	OpLine                // one polyline: x, y per point
	OpTexts               // x, y each; the strings are in Scene.texts
)

// Pattern is drawn over a fill in the colour of style.lines.
type pattern uint8

const (
	NoPattern pattern = iota
	Hatch             // 45 degrees, 2.4 px wide
	ThinHatch         // 45 degrees, 1 px wide
	Dots
)

// Dash is a Dash pattern of strokes.
type dash uint8

const (
	solid dash = iota
	DashWaiting
	DashBudget
	DashGhost
)

// dashes are the lengths of strokes and spaces; paint.js has the same.
var dashes = [...]string{"", "3 2", "6 3", "2 2"}

// Style is how a group is painted.
type Style struct {
	Fill    Role
	Stroke  Role
	Pattern pattern
	Lines   Role // of the pattern
	Dash    dash
	Width   float32 // of the stroke
}

func FillOf(r Role) Style { return Style{Fill: r, Stroke: NoRole, Lines: NoRole} }

func StrokeOf(r Role, width float32) Style {
	return Style{Fill: NoRole, Stroke: r, Lines: NoRole, Width: width}
}

// group is a run of equal items: nums[from:to], for texts also texts[first:last].
type group struct {
	Op          op
	Style       Style
	From, To    int
	First, Last int
}

// Anchor says which part of a text is at its x.
type Anchor uint8

const (
	Start Anchor = iota
	Middle
	End
)

type Text struct {
	S      string
	Anchor Anchor
	Bold   bool
	Large  bool
	Halo   bool // with an edge of the background, legible on every band
}

func (s *List) Reset(width, height float64) {
	s.Width, s.Height = width, height
	s.Title, s.Desc = "", ""
	s.Groups, s.Nums, s.Texts = s.Groups[:0], s.Nums[:0], s.Texts[:0]
}

// open continues the last group if it is like the wanted one, or begins one.
func (s *List) open(o op, st Style) *group {
	if n := len(s.Groups); n > 0 && (o == OpRects || o == OpTexts) {
		if g := &s.Groups[n-1]; g.Op == o && g.Style == st {
			return g
		}
	}
	s.Groups = append(s.Groups, group{Op: o, Style: st, From: len(s.Nums), To: len(s.Nums), First: len(s.Texts), Last: len(s.Texts)})
	return &s.Groups[len(s.Groups)-1]
}

func (s *List) Rect(st Style, x, y, w, h float64) {
	g := s.open(OpRects, st)
	s.Nums = append(s.Nums, float32(x), float32(y), float32(w), float32(h))
	g.To = len(s.Nums)
}

// Rects adds coordinates of rectangles that were collected elsewhere.
func (s *List) Rects(st Style, xywh []float32) {
	if len(xywh) == 0 {
		return
	}
	g := s.open(OpRects, st)
	s.Nums = append(s.Nums, xywh...)
	g.To = len(s.Nums)
}

func (s *List) Path(o op, st Style, xy []float32) {
	if len(xy) < 4 {
		return
	}
	g := s.open(o, st)
	s.Nums = append(s.Nums, xy...)
	g.To = len(s.Nums)
}

func (s *List) Line(st Style, xy ...float32) { s.Path(OpLine, st, xy) }

func (s *List) Text(r Role, x, y float64, a Anchor, str string) {
	s.AddText(r, x, y, Text{S: str, Anchor: a})
}

func (s *List) AddText(r Role, x, y float64, t Text) {
	g := s.open(OpTexts, FillOf(r))
	s.Nums = append(s.Nums, float32(x), float32(y))
	s.Texts = append(s.Texts, t)
	g.To, g.Last = len(s.Nums), len(s.Texts)
}

// Outline frames a rectangle, w and h may be small.
func (s *List) Outline(st Style, x, y, w, h float64) {
	x0, y0, x1, y1 := float32(x), float32(y), float32(x+w), float32(y+h)
	s.Line(st, x0, y0, x1, y0, x1, y1, x0, y1, x0, y0)
}

// Append puts another list behind what is there, moved by dx and dy.
func (s *List) Append(o *List, dx, dy float64) {
	for _, g := range o.Groups {
		shift, first := len(s.Nums)-g.From, len(s.Texts)
		s.Nums = append(s.Nums, o.Nums[g.From:g.To]...)
		s.Texts = append(s.Texts, o.Texts[g.First:g.Last]...)
		step := 2
		if g.Op == OpRects {
			step = 4
		}
		for i := g.From + shift; i < len(s.Nums); i += step {
			s.Nums[i] += float32(dx)
			s.Nums[i+1] += float32(dy)
		}
		s.Groups = append(s.Groups, group{g.Op, g.Style, g.From + shift, len(s.Nums), first, len(s.Texts)})
	}
}
