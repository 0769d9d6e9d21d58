package app

import (
	"errors"

	"github.com/hack-pad/safejs"

	"memtide/engine"
	"memtide/web/chart"
	"memtide/web/draw"
	"memtide/web/question"
	"memtide/web/state"
	"memtide/web/ui"
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
	*core
	tip      *tip
	question *question.Question
	element  safejs.Value
	inner    safejs.Value
	chart    safejs.Value
	asked    bool // the library is being waited for
	ready    bool
	failed   bool // it cannot be had
	drawing  bool // a drawing is scheduled
	drawn    answerKey
	width    float64 // CSS pixels, as the browser told last: asking for them takes long
	height   float64
	plot     *chart.Answer
}

// answerKey is what a chart depends on.
type answerKey struct {
	answers       *state.Answers
	given         int
	strategy      string
	preset        string
	rate          engine.Rate
	theme         draw.Theme
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
	c := &answerChart{core: r.core, tip: r.tip, question: q, element: element}
	r.list = append(r.list, c)
	c.inner = create(element, "div", "chart")
	listen(element, "click", func(e safejs.Value) {
		x, y := at(element, e)
		r.Later(func() {
			if c.plot == nil {
				return
			}
			if i := c.plot.Nearest(x, y); i >= 0 {
				r.Do(state.UseAnswer{Name: q.Name, Index: i})
			}
		})
	})
	listen(element, "pointermove", func(e safejs.Value) {
		x, y := at(element, e)
		r.Later(func() { c.point(x, y, e) })
	})
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
		c.load()
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

// load waits for the chart library.
func (c *answerChart) load() {
	then(global("memtide", "charts"), func(lib safejs.Value) {
		c.Later(func() {
			c.chart = call(lib, "init", c.inner, nil, map[string]any{"renderer": "canvas"})
			c.ready = true
			onResize(c.element, func() {
				c.Later(func() {
					c.width, c.height = number(c.element, "clientWidth"), number(c.element, "clientHeight")
					c.sync()
				})
			})
			c.sync()
		})
	}, func(reason safejs.Value) {
		complain("chart", errors.New(text(reason, "message")))
		c.Later(func() { c.failed = true })
	})
}

func (c *answerChart) draw() {
	k := c.key()
	if c.drawn = k; k.width <= 0 || k.answers == nil {
		c.plot = nil
		return
	}
	if c.plot = (&ui.Question{S: c.s, Q: c.question}).Chart(k.width, k.height); c.plot == nil {
		call(c.chart, "clear")
		return
	}
	option, err := c.plot.Option(chart.Look{Colours: draw.Palette(k.theme), Font: "system-ui, sans-serif"})
	if err != nil {
		complain("chart", err)
		return
	}
	call(c.chart, "resize")
	call(c.chart, "setOption", call(global("JSON"), "parse", string(option)), map[string]any{"notMerge": true})
}

// drawing says whether a chart is about to be drawn.
func (r *answers) drawing() bool {
	for _, c := range r.list {
		if c.drawing || c.asked && !c.ready && !c.failed {
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
			call(call(c.chart, "getZr"), "flush")
		}
	}
}
