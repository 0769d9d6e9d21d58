package timeline

import (
	"fmt"
	"html"
	"strings"

	"github.com/vugu/vugu"

	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/input"
)

// Table says in words what the timeline shows, a page of rows at a time.
type Table struct{ S *state.State }

func (c *Table) rows() (rows []tell.Row, total int) {
	p := c.S.Visible()
	if !c.S.View.Table || p == nil {
		return nil, 0
	}
	m := p.Model()
	total = m.NumRows()
	for i := c.S.View.TableTop; i < min(c.S.View.TableTop+input.TableRows, total); i++ {
		rows = append(rows, m.Row(i))
	}
	return rows, total
}

// Range says which rows are shown.
func (c *Table) Range() string {
	rows, n := c.rows()
	if len(rows) == 0 {
		return "No operations"
	}
	return fmt.Sprintf("Rows %d to %d of %s", c.S.View.TableTop+1, c.S.View.TableTop+len(rows), format.Count(n))
}

// First and Last say whether there is no page before or after this one.
func (c *Table) First() bool { return c.S.View.TableTop == 0 }

// Last reports whether this is the last page.
func (c *Table) Last() bool {
	rows, n := c.rows()
	return c.S.View.TableTop+len(rows) >= n
}

// HTML returns the table. Everything in it is escaped.
func (c *Table) HTML() vugu.HTML {
	rows, _ := c.rows()
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<table><thead><tr><th scope="col">Start</th><th scope="col">End</th><th scope="col">Lane</th><th scope="col">What</th><th scope="col">Kind</th><th scope="col">Layer</th><th scope="col">Why it waited</th></tr></thead><tbody>`)
	makespan := c.S.Visible().Solved.Trace.Makespan
	for _, r := range rows {
		class := ""
		if r.Target == c.S.View.Selected {
			class = ` class="selected"`
		}
		fmt.Fprintf(&b, `<tr%s data-do="row" data-kind="%d" data-index="%d"><td>%s</td><td>%s</td>`, class,
			r.Target.Kind, r.Target.Index,
			format.Moment(r.Start, makespan), format.Moment(r.End, makespan))
		for _, cell := range []string{r.Lane, r.What, r.Kind, r.Stage, r.Why} {
			b.WriteString("<td>" + html.EscapeString(cell) + "</td>")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	return vugu.HTML(b.String())
}
