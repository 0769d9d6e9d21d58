package display

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SVGOptions are the options of List.WriteSVG.
type SVGOptions struct {
	// Standalone writes a file that contains its style sheet. Otherwise the result is an element for a
	// page whose style sheet includes CSS(); it contains neither style elements nor style attributes,
	// so that a strict content security policy allows it.
	Standalone bool
	// Theme fixes the colours, so that no style sheet is needed. If it is nil, an element
	// has the colours of its page, and a file follows prefers-color-scheme.
	Theme *Theme
	// ID is the prefix of all ids, which differs between the pictures of one document. Empty means "mt".
	ID string
	// Surface paints the background.
	Surface bool
	// Link is the address of the page that shows the picture, written as metadata; see package link.
	Link string
	// Anchor makes the whole picture a link to Link.
	Anchor bool
}

// WriteSVG writes the list to w as SVG. The items of a group share an element.
func (s *List) WriteSVG(w io.Writer, o SVGOptions) error {
	sw := svgWriter{scene: s, opts: o}
	if o.ID == "" {
		sw.opts.ID = "mt"
	}
	sw.head()
	sw.patterns()
	if o.Anchor {
		sw.raw(`<a href="`, escape(o.Link), "\">\n")
	}
	if o.Surface {
		sw.raw(`<path`, sw.paint(FillOf(Surface)), ` d="M0 0h`, num(s.Width), `v`, num(s.Height), `h-`, num(s.Width),
			`z"/>`)
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		switch g.Op {
		case OpRects:
			sw.rects(g)
		case OpArea, OpLine:
			sw.polyline(g)
		case OpTexts:
			sw.textGroup(g)
		}
	}
	if o.Anchor {
		sw.raw("</a>\n")
	}
	sw.raw("</svg>\n")
	_, err := w.Write(sw.out)
	return err
}

type svgWriter struct {
	scene *List
	opts  SVGOptions
	out   []byte
	fills []Style // the styles with patterns; the index is the number in the pattern's id
}

func (w *svgWriter) raw(parts ...string) {
	for _, p := range parts {
		w.out = append(w.out, p...)
	}
}

func (w *svgWriter) head() {
	s := w.scene
	w.raw(`<svg xmlns="http://www.w3.org/2000/svg" class="mt-pic" viewBox="0 0 `, num(s.Width), ` `, num(s.Height),
		`" width="`, num(s.Width), `" height="`, num(s.Height), `" font-family="system-ui,sans-serif" font-size="`,
		num(FontSize), `"`)
	if s.Title == "" {
		w.raw(` aria-hidden="true">`, "\n")
	} else {
		w.raw(` role="img" aria-labelledby="`, w.opts.ID, `-t`)
		if s.Desc != "" {
			w.raw(` `, w.opts.ID, `-d`)
		}
		w.raw(`">`, "\n", `<title id="`, w.opts.ID, `-t">`, escape(s.Title), `</title>`)
		if s.Desc != "" {
			w.raw(`<desc id="`, w.opts.ID, `-d">`, escape(s.Desc), `</desc>`)
		}
		w.raw("\n")
	}
	if w.opts.Link != "" {
		w.raw(`<metadata id="memtide-link">`, escape(w.opts.Link), "</metadata>\n")
	}
	if w.opts.Standalone && w.opts.Theme == nil {
		w.raw("<style>\n", standaloneCSS(), "</style>\n")
	}
}

// patternPaths are the lines of each Pattern on a tile of 8 by 8 pixels; paint.js draws the same.
var patternPaths = [...]string{
	Hatch:     `d="M-2 2L2-2M-2 10L10-2M6 10L10 6" stroke-width="2.4"`,
	ThinHatch: `d="M-2 2L2-2M-2 10L10-2M6 10L10 6" stroke-width="1"`,
	Dots:      `d="M1.3 2h1.4M5.3 6h1.4" stroke-width="1.4"`,
}

func (w *svgWriter) patterns() {
	for i := range w.scene.Groups {
		st := w.scene.Groups[i].Style
		if st.Pattern != NoPattern && w.patternOf(st) < 0 {
			w.fills = append(w.fills, st)
		}
	}
	if len(w.fills) == 0 {
		return
	}
	w.raw("<defs>")
	for i, st := range w.fills {
		w.raw(`<pattern id="`, w.opts.ID, `-p`, strconv.Itoa(i),
			`" width="8" height="8" patternUnits="userSpaceOnUse"><path`,
			w.paint(FillOf(st.Fill)), ` d="M0 0h8v8h-8z"/><path`, w.stroke(st.Lines), ` fill="none" `,
			patternPaths[st.Pattern], `/></pattern>`)
	}
	w.raw("</defs>\n")
}

// patternOf returns the index in fills of a style with the same pattern and colours, or -1.
func (w *svgWriter) patternOf(st Style) int {
	return slices.IndexFunc(w.fills, func(f Style) bool {
		return f.Fill == st.Fill && f.Pattern == st.Pattern && f.Lines == st.Lines
	})
}

// stroke returns the stroke attribute and the class that overrides it with the page's colour.
func (w *svgWriter) stroke(r Role) string {
	a := ` stroke="` + w.colour(r) + `"`
	if w.opts.Theme != nil {
		return a
	}
	return a + ` class="mt-s-` + roleNames[r] + `"`
}

func (w *svgWriter) colour(r Role) string {
	if w.opts.Theme != nil {
		return palettes[*w.opts.Theme][r]
	}
	return palettes[Light][r]
}

// paint returns the attributes that paint an element in a style.
func (w *svgWriter) paint(st Style) string {
	var b strings.Builder
	var classes []string
	switch {
	case st.Pattern != NoPattern:
		b.WriteString(` fill="url(#` + w.opts.ID + `-p` + strconv.Itoa(w.patternOf(st)) + `)"`)
	case st.Fill != NoRole:
		b.WriteString(` fill="` + w.colour(st.Fill) + `"`)
		classes = append(classes, "mt-"+roleNames[st.Fill])
	default:
		b.WriteString(` fill="none"`)
	}
	if st.Stroke != NoRole {
		b.WriteString(` stroke="` + w.colour(st.Stroke) + `" stroke-width="` + num(float64(st.Width)) + `"`)
		classes = append(classes, "mt-s-"+roleNames[st.Stroke])
		if st.Dash != solid {
			b.WriteString(` stroke-dasharray="` + dashes[st.Dash] + `"`)
		}
	}
	if len(classes) > 0 && w.opts.Theme == nil {
		b.WriteString(` class="` + strings.Join(classes, " ") + `"`)
	}
	return b.String()
}

func (w *svgWriter) rects(g *Group) {
	w.raw(`<path`, w.paint(g.Style), ` d="`)
	n := w.scene.Nums
	for i := g.From; i < g.To; i += 4 {
		width, height := float64(n[i+2]), num(float64(n[i+3]))
		w.raw(`M`, num(float64(n[i])), ` `, num(float64(n[i+1])), `h`, num(width), `v`, height, `h`, num(-width), `z`)
	}
	w.raw(`"/>`, "\n")
}

func (w *svgWriter) polyline(g *Group) {
	w.raw(`<path`, w.paint(g.Style), ` d="`)
	px, py := "", ""
	for i := g.From; i < g.To; i += 2 {
		x, y := num(float64(w.scene.Nums[i])), num(float64(w.scene.Nums[i+1]))
		switch {
		case i == g.From:
			w.raw("M", x, " ", y)
		case x == px && y == py:
		case x == px:
			w.raw("V", y)
		case y == py:
			w.raw("H", x)
		default:
			w.raw("L", x, " ", y)
		}
		px, py = x, y
	}
	if g.Op == OpArea {
		w.raw("z")
	}
	w.raw(`"/>`, "\n")
}

var anchorNames = [...]string{Start: "start", Middle: "middle", End: "end"}

func (w *svgWriter) textGroup(g *Group) {
	w.raw(`<g`, w.paint(g.Style), `>`)
	for j := g.First; j < g.Last; j++ {
		t, at := w.scene.Texts[j], g.From+2*(j-g.First)
		w.raw(`<text x="`, num(float64(w.scene.Nums[at])), `" y="`, num(float64(w.scene.Nums[at+1])), `"`)
		if t.Anchor != Start {
			w.raw(` text-anchor="`, anchorNames[t.Anchor], `"`)
		}
		if t.Large {
			w.raw(` font-size="`, num(largeSize), `"`)
		}
		if t.Halo {
			w.raw(` paint-order="stroke" stroke="`, w.colour(Surface), `" stroke-width="`, num(haloWidth),
				`" stroke-linejoin="round"`)
			if w.opts.Theme == nil {
				w.raw(` class="mt-s-surface"`)
			}
		}
		if t.Bold {
			w.raw(` font-weight="600"`)
		}
		w.raw(`>`, escape(t.S), `</text>`)
	}
	w.raw("</g>\n")
}

// num writes a coordinate with at most two decimals.
func num(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// escape escapes a text for XML and HTML. Characters that XML cannot contain become U+FFFD.
func escape(s string) string {
	return xmlEscapes.Replace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, s))
}
