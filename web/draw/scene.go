package draw

// list is a display list: groups of rectangles, areas, lines and texts that
// are painted in order. Coordinates are CSS pixels, y grows downwards. Its zero
// value is empty; reuse one to save memory.
type list struct {
	Width, Height float64
	Title, Desc   string // accessible name and description; WriteSVG writes them

	groups []group
	nums   []float32 // coordinates of all groups
	texts  []text
}

// op is what a group consists of.
type op uint8

const (
	opRects op = iota + 1 // x, y, width, height each
	opArea                // one closed polygon: x, y per corner
	opLine                // one polyline: x, y per point
	opTexts               // x, y each; the strings are in Scene.texts
)

// pattern is drawn over a fill in the colour of style.lines.
type pattern uint8

const (
	noPattern pattern = iota
	hatch             // 45 degrees, 2.4 px wide
	thinHatch         // 45 degrees, 1 px wide
	dots
)

// dash is a dash pattern of strokes.
type dash uint8

const (
	solid dash = iota
	dashWaiting
	dashBudget
	dashGhost
)

// dashes are the lengths of strokes and spaces; paint.js has the same.
var dashes = [...]string{"", "3 2", "6 3", "2 2"}

// style is how a group is painted.
type style struct {
	fill    Role
	stroke  Role
	pattern pattern
	lines   Role // of the pattern
	dash    dash
	width   float32 // of the stroke
}

func fillOf(r Role) style { return style{fill: r, stroke: noRole, lines: noRole} }

func strokeOf(r Role, width float32) style {
	return style{fill: noRole, stroke: r, lines: noRole, width: width}
}

// group is a run of equal items: nums[from:to], for texts also texts[first:last].
type group struct {
	op          op
	style       style
	from, to    int
	first, last int
}

// anchor says which part of a text is at its x.
type anchor uint8

const (
	start anchor = iota
	middle
	end
)

type text struct {
	s      string
	anchor anchor
	bold   bool
	large  bool
	halo   bool // with an edge of the background, legible on every band
}

func (s *list) reset(width, height float64) {
	s.Width, s.Height = width, height
	s.Title, s.Desc = "", ""
	s.groups, s.nums, s.texts = s.groups[:0], s.nums[:0], s.texts[:0]
}

// open continues the last group if it is like the wanted one, or begins one.
func (s *list) open(o op, st style) *group {
	if n := len(s.groups); n > 0 && (o == opRects || o == opTexts) {
		if g := &s.groups[n-1]; g.op == o && g.style == st {
			return g
		}
	}
	s.groups = append(s.groups, group{op: o, style: st, from: len(s.nums), to: len(s.nums), first: len(s.texts), last: len(s.texts)})
	return &s.groups[len(s.groups)-1]
}

func (s *list) rect(st style, x, y, w, h float64) {
	g := s.open(opRects, st)
	s.nums = append(s.nums, float32(x), float32(y), float32(w), float32(h))
	g.to = len(s.nums)
}

// rects adds coordinates of rectangles that were collected elsewhere.
func (s *list) rects(st style, xywh []float32) {
	if len(xywh) == 0 {
		return
	}
	g := s.open(opRects, st)
	s.nums = append(s.nums, xywh...)
	g.to = len(s.nums)
}

func (s *list) path(o op, st style, xy []float32) {
	if len(xy) < 4 {
		return
	}
	g := s.open(o, st)
	s.nums = append(s.nums, xy...)
	g.to = len(s.nums)
}

func (s *list) line(st style, xy ...float32) { s.path(opLine, st, xy) }

func (s *list) text(r Role, x, y float64, a anchor, str string) {
	s.addText(r, x, y, text{s: str, anchor: a})
}

func (s *list) addText(r Role, x, y float64, t text) {
	g := s.open(opTexts, fillOf(r))
	s.nums = append(s.nums, float32(x), float32(y))
	s.texts = append(s.texts, t)
	g.to, g.last = len(s.nums), len(s.texts)
}

// outline frames a rectangle, w and h may be small.
func (s *list) outline(st style, x, y, w, h float64) {
	x0, y0, x1, y1 := float32(x), float32(y), float32(x+w), float32(y+h)
	s.line(st, x0, y0, x1, y0, x1, y1, x0, y1, x0, y0)
}

// append puts another list behind what is there, moved by dx and dy.
func (s *list) append(o *list, dx, dy float64) {
	for _, g := range o.groups {
		shift, first := len(s.nums)-g.from, len(s.texts)
		s.nums = append(s.nums, o.nums[g.from:g.to]...)
		s.texts = append(s.texts, o.texts[g.first:g.last]...)
		step := 2
		if g.op == opRects {
			step = 4
		}
		for i := g.from + shift; i < len(s.nums); i += step {
			s.nums[i] += float32(dx)
			s.nums[i+1] += float32(dy)
		}
		s.groups = append(s.groups, group{g.op, g.style, g.from + shift, len(s.nums), first, len(s.texts)})
	}
}
