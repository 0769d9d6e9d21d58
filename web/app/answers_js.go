package app

import (
	"errors"

	"github.com/hack-pad/safejs"

	"memtide/engine"
	"memtide/web/chart"
	"memtide/web/display"
	"memtide/web/question"
	"memtide/web/state"
	"memtide/web/ui/questions"
)

// answers draws the charts of the questions with ECharts.
type answers struct {
	*core
	tip   *tip
	leave func() // takes the cursor out of the pictures
	list  []*answerChart
}

// answerChart is one of them. The library is waited for only when there is something to
// draw.
type answerChart struct {
	echart
	tip      *tip
	question *question.Question
	asked    bool // the library is being waited for, or was
	drawn    answerKey
	plot     *chart.Answer
}

// answerKey is what a chart depends on.
type answerKey struct {
	answers       *state.Answers
	given         int
	strategy      string
	preset        string
	rate          engine.Rate
	theme         display.Theme
	width, height float64
}

// host takes over the element of a question's chart; only the first time counts.
func (r *answers) host(q *question.Question, element safejs.Value) {
	if q == nil || q.Chart == nil {
		return
	}
	for _, c := range r.list {
		if c.question == q {
			return
		}
	}
	c := &answerChart{echart: newChart(r.core, element), tip: r.tip, question: q}
	r.list = append(r.list, c)
	r.pointed(element, "click", func(x, y float64, _ safejs.Value) {
		if c.plot == nil {
			return
		}
		if i := c.plot.Nearest(x, y); i >= 0 {
			r.Do(state.UseAnswer{Name: q.Name, Index: i})
		}
	})
	r.pointed(element, "pointermove", c.point)
	listen(element, "pointerleave", func(safejs.Value) { r.Later(r.leave) })
}

// point names what is under the pointer.
func (c *answerChart) point(x, y float64, e safejs.Value) {
	if c.plot == nil {
		return
	}
	words, cursor := "", "default"
	if i := c.plot.Nearest(x, y); i >= 0 {
		words, cursor = c.plot.PointWords(i), "pointer"
	}
	set(get(c.element, "style"), "cursor", cursor)
	c.tip.show(words, e)
}

// sync brings the charts up to date.
func (r *answers) sync() {
	for _, c := range r.list {
		if c.question == r.s.OpenedQuestion() {
			c.sync()
		}
	}
}

func (c *answerChart) sync() {
	a := c.s.Answers(c.question)
	if a == nil || len(a.List) == 0 {
		c.plot = nil
		return
	}
	if !c.asked {
		c.asked = true
		c.load(c.sync, func(why string) { complain("chart", errors.New(why)) })
	}
	if !c.ready || c.drawing || c.drawn == c.key() {
		return
	}
	c.drawing = true
	after(curveDelay, func() {
		c.Later(func() {
			c.drawing = false
			c.draw()
		})
	})
}

// key is what the chart shows now.
func (c *answerChart) key() answerKey {
	s := c.s
	k := answerKey{answers: s.Answers(c.question), theme: c.look, width: c.width, height: c.height}
	if k.answers != nil {
		k.given = len(k.answers.List)
	}
	k.strategy, k.preset, k.rate = s.Choice.Strategy, s.Choice.Source.Preset, s.Choice.ToHost
	return k
}

func (c *answerChart) draw() {
	c.meter.begin()
	k := c.key()
	if c.drawn = k; k.width <= 0 || k.answers == nil {
		c.plot = nil
		return
	}
	if c.plot = (&questions.Question{S: c.s, Q: c.question}).Chart(k.width, k.height); c.plot == nil {
		c.show(nil, k.theme)
		return
	}
	c.show(c.plot.Option, k.theme)
}

// drawing says whether a chart is about to be drawn.
func (r *answers) drawing() bool {
	for _, c := range r.list {
		if c.drawing || c.loading {
			return true
		}
	}
	return false
}

// flush draws the charts of the answers at once.
func (r *answers) flush() {
	for _, c := range r.list {
		if c.ready && c.plot != nil {
			c.draw()
			c.paint()
		}
	}
}
