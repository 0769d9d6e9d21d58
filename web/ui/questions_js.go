package ui

import (
	"errors"
	"strings"

	"github.com/hack-pad/safejs"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/chart"
	"memtide/web/draw"
	"memtide/web/state"
)

// replies draws the charts of the questions with ECharts.
type replies struct {
	a    *app
	list []*reply
}

// reply is one chart. The library is waited for only when there is something to
// draw.
type reply struct {
	a        *app
	question proto.Question
	element  safejs.Value
	inner    safejs.Value
	chart    safejs.Value
	asked    bool // the library is being waited for
	ready    bool
	failed   bool // it cannot be had
	drawing  bool // a drawing is scheduled
	drawn    replyKey
	width    float64 // CSS pixels, as the browser told last: asking for them takes long
	height   float64
	plot     *chart.Reply
}

// replyKey is what a chart depends on.
type replyKey struct {
	asked         *state.Asked
	answers       int
	strategy      string
	preset        string
	rate          engine.Rate
	theme         draw.Theme
	width, height float64
}

func (r *replies) init(a *app) { r.a = a }

// host takes over the element of a question's chart; only the first time counts.
func (r *replies) host(q proto.Question, element safejs.Value) {
	if q != proto.Links && q != proto.LargestBatch {
		return
	}
	for _, c := range r.list {
		if c.question == q {
			return
		}
	}
	c := &reply{a: r.a, question: q, element: element}
	r.list = append(r.list, c)
	c.inner = create(element, "div", "chart")
	listen(element, "click", func(e safejs.Value) {
		x, y := c.at(e)
		r.a.later(func() {
			if c.plot == nil {
				return
			}
			if i := c.plot.Nearest(x, y); i >= 0 {
				r.a.do(state.UseAnswer{Question: q, Index: i})
			}
		})
	})
	listen(element, "pointermove", func(e safejs.Value) {
		x, y := c.at(e)
		r.a.later(func() { c.point(x, y, e) })
	})
	listen(element, "pointerleave", func(safejs.Value) { r.a.later(r.a.pictures.leave) })
}

func (c *reply) at(e safejs.Value) (x, y float64) {
	box := call(c.element, "getBoundingClientRect")
	return number(e, "clientX") - number(box, "left"), number(e, "clientY") - number(box, "top")
}

// point names what is under the pointer.
func (c *reply) point(x, y float64, e safejs.Value) {
	if c.plot == nil {
		return
	}
	words, cursor := "", "default"
	if i := c.plot.Nearest(x, y); i >= 0 {
		words, cursor = c.plot.PointWords(i), "pointer"
	}
	set(get(c.element, "style"), "cursor", cursor)
	c.a.pictures.tell(words, e)
}

// settle brings the charts up to date.
func (r *replies) settle() {
	if !r.a.s.View.Questions {
		return
	}
	for _, c := range r.list {
		c.settle()
	}
}

func (c *reply) settle() {
	a := c.a.s.Asked(c.question)
	if a == nil || len(a.Answers) == 0 {
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
		c.a.later(func() {
			c.drawing = false
			c.draw()
		})
	})
}

// key is what the chart shows now.
func (c *reply) key() replyKey {
	s := c.a.s
	k := replyKey{asked: s.Asked(c.question), theme: c.a.pictures.theme, width: c.width, height: c.height}
	if k.asked != nil {
		k.answers = len(k.asked.Answers)
	}
	k.strategy, k.preset, k.rate = s.Choice.Strategy, s.Choice.Source.Preset, s.Choice.ToHost
	return k
}

// load waits for the chart library.
func (c *reply) load() {
	then(global("memtide", "charts"), func(lib safejs.Value) {
		c.a.later(func() {
			c.chart = call(lib, "init", c.inner, nil, map[string]any{"renderer": "canvas"})
			c.ready = true
			observer, err := get(safejs.Global(), "ResizeObserver").New(function(func(safejs.Value) {
				c.a.later(func() {
					c.width, c.height = number(c.element, "clientWidth"), number(c.element, "clientHeight")
					c.settle()
				})
			}))
			if err == nil {
				call(observer, "observe", c.element)
			}
			c.settle()
		})
	}, func(reason safejs.Value) {
		complain("chart", errors.New(text(reason, "message")))
		c.a.later(func() { c.failed = true })
	})
}

func (c *reply) draw() {
	k := c.key()
	if c.drawn = k; k.width <= 0 || k.asked == nil {
		c.plot = nil
		return
	}
	if c.plot = replyOf(c.a.s, c.question, k.width, k.height); c.plot == nil {
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

// inquire carries a question to the pool and its answers back.
func (j *jobs) inquire(e state.Inquire) {
	ctx := j.context(e.ID)
	go func() {
		m := inquire(ctx, j.a.pool, e, j.a.post)
		j.a.later(func() {
			j.finish(e.ID)
			j.a.do(m)
		})
	}()
}

// tables are the tables that are set by hand, and only when they have changed:
// to write them at every drawing would take longer than all the rest of it.
type tables map[string]*handTable

type handTable struct {
	element safejs.Value
	key     tableKey // of what it shows
	filled  bool
}

// tableKey is what the tables depend on.
type tableKey struct {
	asked   *state.Asked
	answers int
	open    bool
	preset  string
	picture *state.Picture
	layers  state.LayerTable
	row     int
}

// host takes over an element, which is another one each time its part of the page
// is opened.
func (t tables) host(name string, element safejs.Value) {
	if old := t[name]; old == nil || !old.element.Equal(element) {
		t[name] = &handTable{element: element}
	}
}

// settle brings the tables up to date.
func (t tables) settle(s *state.State) {
	for name, h := range t {
		q := strings.TrimPrefix(name, "answers-")
		var k tableKey
		if name == "layer-rows" {
			k.picture, k.layers, k.row = s.Visible(), s.View.Layers, s.LayerRow()
		} else if k.asked, k.open, k.preset = s.Asked(proto.Question(q)), s.View.Questions, s.Choice.Source.Preset; k.asked != nil {
			k.answers = len(k.asked.Answers)
		}
		if h.filled && h.key == k {
			continue
		}
		h.key, h.filled = k, true
		html := (&Inquiry{S: s, Name: q}).HTML()
		if name == "layer-rows" {
			html = (&Layers{S: s}).HTML()
		}
		set(h.element, "innerHTML", string(html))
	}
}
