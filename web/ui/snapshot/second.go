package snapshot

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/profiles/doctor"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
)

// second is the comparison with another snapshot, and how one is chosen. Everything in it
// is escaped.
func second(s *state.State) vugu.HTML {
	if report(s) == nil {
		return ""
	}
	var b strings.Builder
	x := s.Doctor().Second
	pick := wordsSecondPick
	if x != nil {
		pick = wordsSecondOther
	}
	fmt.Fprintf(&b, `<div class="second"><h2>%s</h2><p class="note">%s</p>`, wordsSecond, wordsSecondNote)
	if x != nil {
		compared(&b, s.Memory.File, x)
	}
	fmt.Fprintf(&b, `<p class="choose"><label class="button small file"><span>%s</span><input class="sr" type="file" data-do="second-file" data-testid="second-file" accept=".pickle,.pkl,.gz"></label>`, pick)
	if x != nil {
		fmt.Fprintf(&b, `<button class="button small" type="button" data-do="second-drop">%s</button>`, wordsSecondEnd)
	}
	b.WriteString("</p></div>")
	return vugu.HTML(b.String())
}

// compared is what has come of the comparison so far.
func compared(b *strings.Builder, first string, x *known.Second) {
	names := [2]string{html.EscapeString(first), html.EscapeString(x.Name)}
	switch d := x.Comparison; {
	case x.Failed != "":
		fmt.Fprintf(b, `<p data-testid="second-say">%s</p>`, fmt.Sprintf(wordsSecondFailed, names[1], html.EscapeString(format.Sentence(x.Failed))))
	case d == nil:
		fmt.Fprintf(b, `<p data-testid="second-say"><span class="working"><span class="spinner" aria-hidden="true"></span>%s</span></p>`, fmt.Sprintf(wordsSecondRead, names[1]))
	default:
		fmt.Fprintf(b, `<p data-testid="second-say" aria-live="polite">%s</p>`, moreIn(d, names))
		curves(b, d, names)
		differing(b, wordsByCategory, d.Categories, doctor.Difference{})
		differing(b, wordsByPlace, d.Sites, d.OtherSites)
	}
}

// moreIn says which of two recordings holds more.
func moreIn(d *doctor.Comparison, names [2]string) string {
	more := d.Second.Alive.Bytes - d.First.Alive.Bytes
	switch {
	case more > 0:
		return fmt.Sprintf(wordsSecondMore, names[1], format.Bytes(more), names[0], wordsSecondEach)
	case more < 0:
		return fmt.Sprintf(wordsSecondMore, names[0], format.Bytes(-more), names[1], wordsSecondEach)
	}
	return fmt.Sprintf(wordsSecondSame, names[0], names[1], wordsSecondEach)
}

// curves draws what both have in use on one axis: the first as an area, the second as a
// line.
func curves(b *strings.Builder, d *doctor.Comparison, names [2]string) {
	const width, height = 600.0, 120.0
	most, end := max(d.First.Peak, d.Second.Peak, 1), max(d.End, 1)
	at := func(p *doctor.Point) float64 {
		if d.Axis == doctor.ByTime {
			return width * float64(p.Time) / float64(end)
		}
		return width * float64(p.Event) / float64(end)
	}
	path := func(list []doctor.Point) (line string, last float64) {
		for i := range list {
			x, y := at(&list[i]), height-height*float64(list[i].InUse)/float64(most)
			if i == 0 {
				line = fmt.Sprintf("M%.1f %.1f", x, y)
			} else {
				line += fmt.Sprintf("H%.1fV%.1f", x, y)
			}
			last = x
		}
		return line, last
	}
	first, to := path(d.First.Curve)
	second, _ := path(d.Second.Curve)
	area := fmt.Sprintf("M0 %.0fL%sV%.0fZ", height, strings.TrimPrefix(first, "M"), height)
	if to == 0 {
		area = ""
	}
	legend := [2]string{fmt.Sprintf(wordsInUse, names[0], format.Bytes(d.First.Peak)), fmt.Sprintf(wordsInUse, names[1], format.Bytes(d.Second.Peak))}
	axis, last := wordsAxisEvent, format.Count(int(d.End))
	if d.Axis == doctor.ByTime {
		axis, last = wordsAxisTime, format.Duration(time.Duration(d.End)*time.Microsecond)
	}
	fmt.Fprintf(b, `<svg class="curves" data-testid="second-curves" viewBox="0 0 %.0f %.0f" preserveAspectRatio="none" role="img" aria-label="%s; %s"><path class="one" d="%s"/><path class="two" d="%s"/></svg>`,
		width, height, legend[0], legend[1], area, second)
	fmt.Fprintf(b, `<p class="curves-axis"><span>0</span><span>%s</span><span>%s</span></p><ul class="curves-key"><li><i class="one"></i>%s</li><li><i class="two"></i>%s</li></ul>`,
		axis, last, legend[0], legend[1])
}

// mostDiffering is how many differences stand in a table.
const mostDiffering = 12

// differing is a table of what differs, the largest first.
func differing(b *strings.Builder, title string, list []doctor.Difference, rest doctor.Difference) {
	rows := ""
	row := func(name string, first, second engine.Bytes) {
		rows += fmt.Sprintf(`<tr><th scope="row">%s</th><td>%s</td><td><b>%s</b></td></tr>`, html.EscapeString(name),
			fmt.Sprintf(wordsFirstSecond, format.Bytes(first), format.Bytes(second)), format.BytesChange(second-first))
	}
	for i := range list {
		switch d := &list[i]; {
		case d.More() == 0:
		case i < mostDiffering:
			row(d.Name, d.First, d.Second)
		default:
			rest.First, rest.Second = rest.First+d.First, rest.Second+d.Second
		}
	}
	if rest.More() != 0 {
		row(wordsOtherPlaces, rest.First, rest.Second)
	}
	if rows != "" {
		fmt.Fprintf(b, `<h3>%s</h3><table class="parts diff"><tbody>%s</tbody></table>`, title, rows)
	}
}
