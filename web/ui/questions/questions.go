// Package questions is what people ask about a choice, and the answers: in a few words, as
// tables and charts, and what would help as the first of them.
package questions

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/vugu/vugu"

	"memtide/web/chart"
	"memtide/web/question"
	"memtide/web/state"
	"memtide/web/ui/mount"
	"memtide/web/ui/plans"
)

// Questions are what people ask, which takes several schedules to answer: four answers
// in a few words, each of which opens its question. The page finds them while it has
// nothing else to do; others are computed when they are opened.
type Questions struct {
	S     *state.State
	Hosts mount.Hosts
}

// Short are those that are answered in a few words, and open.
func (c *Questions) Short() (out []*question.Question) {
	for _, q := range question.All() {
		if q.Short != nil {
			out = append(out, q)
		}
	}
	return out
}

// Expanded is for aria-expanded.
func (c *Questions) Expanded(q *question.Question) string {
	return strconv.FormatBool(c.S.OpenedQuestion() == q)
}

// Headline is a question with its answer in a few words.
func (c *Questions) Headline(q *question.Question) vugu.HTML {
	var subject question.Subject
	if c.S.Network != nil {
		subject = c.S.Subject()
	}
	a := c.S.Answers(q)
	list, value, about := &question.Answers{Slowdown: c.S.Slowdown()}, "", ""
	if a != nil {
		list = &a.Answers
	}
	if a != nil && a.ID == 0 { // what is known before the end may change
		value, about = q.Headline(list, subject)
	}
	switch {
	case value != "":
	case a == nil && q.Idle:
		value = "…"
	case a == nil:
		value, about = "–", "open it to compute"
	case a.ID != 0:
		value, about = "…", progressOf(a)
	default:
		value, about = "–", (&Question{S: c.S, Q: q}).sentenceOf(a)
	}
	return vugu.HTML(fmt.Sprintf("<span>%s</span><b>%s</b><span>%s</span>",
		html.EscapeString(q.Short(subject, list)), html.EscapeString(value), html.EscapeString(about)))
}

// Question is one question with its answers.
type Question struct {
	S     *state.State
	Hosts mount.Hosts
	Q     *question.Question
}

// Open says whether the question is open.
func (c *Question) Open() bool { return c.S.OpenedQuestion() == c.Q }

// answers are nil while the question was not asked, or is not on the page.
func (c *Question) answers() *state.Answers {
	if !c.Open() {
		return nil
	}
	return c.S.Answers(c.Q)
}

// Title is the question.
func (c *Question) Title() string {
	return c.Q.Title
}

// FieldID is the id of the field of the accepted slowdown.
func (c *Question) FieldID() string { return "slowdown-" + c.Q.Name }

// Slowdown is the accepted slowdown in per cent.
func (c *Question) Slowdown() string {
	if c.S.Draft.Field == "slowdown" {
		return c.S.Draft.Text
	}
	return strconv.FormatFloat(float64(c.S.Slowdown())/100, 'f', -1, 64)
}

// CanAsk says whether the question can be asked, AskText in which word.
func (c *Question) CanAsk() bool {
	a := c.answers()
	return c.S.Network != nil && (a == nil || a.ID == 0 && !a.Complete())
}

// AskText is the text of the button that asks.
func (c *Question) AskText() string {
	if c.answers() != nil {
		return "Ask again"
	}
	return "Compute"
}

// Work says how far the answers are.
func (c *Question) Work() string {
	a := c.answers()
	switch {
	case a == nil || a.ID == 0:
		return ""
	case a.Total > 0:
		return fmt.Sprintf("%d of %d", a.Done, a.Total)
	case a.Done > 0:
		return fmt.Sprintf("%d tried", a.Done)
	}
	return "Working…"
}

// Sentence says what came out.
func (c *Question) Sentence() string {
	if a := c.answers(); a != nil {
		return c.sentenceOf(a)
	}
	return ""
}

func (c *Question) sentenceOf(a *state.Answers) string {
	switch {
	case a.Failed != "":
		return a.Failed
	case a.ID == 0 && len(a.List) == 0:
		return "Given up before there was an answer."
	}
	str := ""
	if a.ID == 0 || c.Q.Early {
		str = c.Q.Sentence(&a.Answers, c.S.Subject())
	}
	if a.Stopped {
		str = strings.TrimSpace(fmt.Sprintf("Stopped after %d of %d. ", a.Done, a.Total) + str)
	}
	return str
}

// SetText is the text of the button that takes the first answer over.
func (c *Question) SetText() string {
	if a := c.answers(); a != nil && c.Q.Button != nil {
		return c.Q.Button(&a.Answers)
	}
	return ""
}

// HTML is the table of answers. Everything in it is escaped.
func (c *Question) HTML() vugu.HTML {
	a := c.answers()
	if a == nil || len(a.List) == 0 || c.Q.Table == nil {
		return ""
	}
	t := c.Q.Table(&a.Answers, c.S.Subject())
	var b strings.Builder
	b.WriteString("<table><thead><tr>")
	for _, name := range t.Columns {
		b.WriteString(`<th scope="col">` + name + `</th>`)
	}
	b.WriteString(`<th scope="col"><span class="sr">Use</span></th></tr></thead><tbody>`)
	for i := range t.Rows {
		c.row(&b, &t.Rows[i])
	}
	b.WriteString(`</tbody></table>`)
	return vugu.HTML(b.String())
}

func (c *Question) row(b *strings.Builder, r *question.Row) {
	head := html.EscapeString(r.Head)
	if s := r.Strategy; s != nil {
		head = plans.Sampled(s.Name, r.Head)
	}
	b.WriteString(`<tr><th scope="row">` + head + `</th>`)
	for _, cell := range r.Cells {
		b.WriteString("<td")
		if cell.Better {
			b.WriteString(` class="better"`)
		}
		if cell.Title != "" {
			b.WriteString(` title="` + html.EscapeString(cell.Title) + `"`)
		}
		b.WriteString(">" + html.EscapeString(cell.Text) + "</td>")
	}
	b.WriteString("<td>")
	if r.Use != "" {
		fmt.Fprintf(b, `<button class="button small" type="button" data-do="use-answer" data-arg="%s" data-index="%d" aria-label="%s">Use it</button>`,
			c.Q.Name, r.Answer, html.EscapeString("Use it: "+r.Use))
	}
	b.WriteString("</td></tr>")
}

// HasChart says whether there is something to draw.
func (c *Question) HasChart() bool {
	a := c.answers()
	if a == nil || c.Q.Chart == nil {
		return false
	}
	for _, x := range a.List {
		if x.StepTime > 0 {
			return true
		}
	}
	return false
}

// Chart lays the chart of the answers out; nil if there is none.
func (c *Question) Chart(width, height float64) *chart.Answer {
	a := c.S.Answers(c.Q)
	if a == nil || len(a.List) == 0 || c.Q.Chart == nil {
		return nil
	}
	return &chart.Answer{Chart: c.Q.Chart(&a.Answers, c.S.Subject()), Width: width, Height: height}
}

// Label says in words what the chart shows.
func (c *Question) Label() string {
	if !c.HasChart() {
		return c.Title()
	}
	return c.Chart(0, 0).Words()
}
