package timeline

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/vugu/vugu"
	"memtide/web/format"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/input"
	"memtide/web/ui/mount"
)

// Layers is the table of layers. It contains only the rows near the visible part, and empty rows as high as the others.
type Layers struct {
	S     *state.State
	Hosts mount.Hosts
}

const (
	// LayerRowHeight is the height of a row in CSS pixels, as in the style sheet.
	LayerRowHeight = 26
	layerRows      = 26       // number of rows in the table, more than are visible
	layerAbove     = 4        // how many of these are above the first visible row
	layerHTML      = 14 << 10 // largest size of the HTML of the rows
)

// Open reports whether the table is open.
func (c *Layers) Open() bool { return c.S.View.LayerList }

// Count returns the number of rows, including the row of headings.
func (c *Layers) Count() string { return strconv.Itoa(len(c.S.LayerRows()) + 1) }

// Head is the heading of a column, a button that sorts by the column.
type Head struct{ Arg, Title, Doc, Sort string }

// Heads returns the headings.
func (c *Layers) Heads() []Head {
	if !c.Open() {
		return nil
	}
	out := make([]Head, 0, tell.NumLayerColumns)
	for by := range tell.NumLayerColumns {
		h := Head{Arg: strconv.Itoa(int(by)), Title: by.Title(), Doc: by.Doc() + ". Sort by it.", Sort: "none"}
		if t := c.S.View.Layers; t.By == by {
			if h.Sort = "ascending"; t.Down {
				h.Sort = "descending"
			}
		}
		out = append(out, h)
	}
	return out
}

// Status returns the number of rows in words.
func (c *Layers) Status() string {
	rows := len(c.S.LayerRows())
	switch p := c.S.Visible(); {
	case !c.Open() || p == nil:
		return ""
	case rows == 0:
		return "No block contains this."
	case rows < p.Index().Stages():
		return fmt.Sprintf("%s of %s rows", format.Count(rows), format.Count(p.Index().Stages()))
	}
	return format.Count(rows) + " rows"
}

// HTML returns the rows near the visible part, escaped.
func (c *Layers) HTML() vugu.HTML {
	rows := c.S.LayerRows()
	if len(rows) == 0 {
		return ""
	}
	first := min(max(c.S.View.Layers.Top-layerAbove, 0), max(len(rows)-layerRows, 0))
	first -= first % 2
	selected := c.S.LayerRow()
	var body strings.Builder
	end := first
	for ; end < min(first+layerRows, len(rows)); end++ {
		row := layerHTMLRow(&rows[end], end, end == selected)
		if body.Len()+len(row) > layerHTML {
			break
		}
		body.WriteString(row)
	}
	return vugu.HTML(spacer(first) + body.String() + spacer(len(rows)-end))
}

// spacer returns an empty row as high as the given number of rows.
func spacer(rows int) string {
	if rows <= 0 {
		return ""
	}
	return fmt.Sprintf(`<tr class="spacer" aria-hidden="true"><td colspan="%d" style="height:%dpx"></td></tr>`,
		tell.NumLayerColumns, rows*LayerRowHeight)
}

func layerHTMLRow(r *tell.LayerRow, at int, selected bool) string {
	mark := ""
	if selected {
		mark = ` class="selected" aria-current="true"`
	}
	why := html.EscapeString(r.Why)
	return fmt.Sprintf(`<tr%s data-do="row" data-kind="%d" data-index="%d" aria-rowindex="%d"><td>%d</td><th scope="row">%s</th><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td title="%s">%s</td></tr>`,
		mark, lookup.OnStage, r.Stage, at+2, r.Stage, html.EscapeString(shorten(r.Name, 40)),
		tell.DecisionLetter(r.Decision),
		format.Bytes(r.Size), timeCell(r.Forward), timeCell(r.Backward), timeCell(r.Recompute), timeCell(r.Copies),
		timeCell(r.Slack), timeCell(r.Waiting), why, why)
}

// timeCell returns a duration, or "" for 0.
func timeCell(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return format.Duration(d)
}

// shorten leaves out the middle of a long name.
func shorten(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most/2]) + "…" + string(r[len(r)-most/2+1:])
}

// LayerTop returns the scroll position at which a row is visible, or -1 if it is visible now or row is negative.
// scrolled is the present position and height that of the visible part, all in CSS pixels.
func LayerTop(row int, scrolled, height float64) float64 {
	top := float64(row * LayerRowHeight)
	switch {
	case row < 0:
		return -1
	case top < scrolled:
		return top
	case top+LayerRowHeight > scrolled+height:
		return top + LayerRowHeight - height
	}
	return -1
}

// Table is the table of operations, with one page of rows at a time.
type Table struct{ S *state.State }

func (c *Table) rows() (rows []tell.Row, total int) {
	p := c.S.Visible()
	if !c.S.View.Table || p == nil {
		return nil, 0
	}
	m := p.Index()
	total = m.NumRows()
	for i := c.S.View.TableTop; i < min(c.S.View.TableTop+input.TableRows, total); i++ {
		rows = append(rows, m.Row(i))
	}
	return rows, total
}

// Range returns the numbers of the shown rows in words.
func (c *Table) Range() string {
	rows, n := c.rows()
	if len(rows) == 0 {
		return "No operations"
	}
	return fmt.Sprintf("Rows %d to %d of %s", c.S.View.TableTop+1, c.S.View.TableTop+len(rows), format.Count(n))
}

// First reports whether this is the first page.
func (c *Table) First() bool { return c.S.View.TableTop == 0 }

// Last reports whether this is the last page.
func (c *Table) Last() bool {
	rows, n := c.rows()
	return c.S.View.TableTop+len(rows) >= n
}

// HTML returns the table, escaped.
func (c *Table) HTML() vugu.HTML {
	rows, _ := c.rows()
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<table><thead><tr><th scope="col">Start</th><th scope="col">End</th><th scope="col">Lane</th><th scope="col">What</th><th scope="col">Block</th><th scope="col">Why it waited</th></tr></thead><tbody>`)
	graph := c.S.Visible().Index().IsGraph()
	makespan := c.S.Visible().Solved.Trace.Makespan
	for _, r := range rows {
		class := ""
		if r.Target == c.S.View.Selected {
			class = ` class="selected"`
		}
		fmt.Fprintf(&b, `<tr%s data-do="row" data-kind="%d" data-index="%d"><td>%s</td><td>%s</td>`, class,
			r.Target.Kind, r.Target.Index,
			format.Moment(r.Start, makespan), format.Moment(r.End, makespan))
		if graph || r.Target.Kind == lookup.OnGap { // in a chain the block says what runs
			r.Kind = r.What + ", " + r.Kind
		}
		for _, cell := range []string{r.Lane, r.Kind, r.Stage, r.Why} {
			b.WriteString("<td>" + html.EscapeString(cell) + "</td>")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	return vugu.HTML(b.String())
}
