package chart

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/state"
)

// questionTemplate is made by package template with go-echarts.
//
//go:embed question.template.json
var questionTemplate []byte

// The series of the template of questions, in its order.
const (
	seriesPresent = iota
	seriesMethod
	seriesMark
)

// Reply is a chart that answers a question: a line for each strategy over
// bandwidth or batch size, in a picture of Width times Height CSS pixels.
type Reply struct {
	Width, Height float64
	Lines         []ReplyLine
	Chosen        string  // name of the chosen strategy
	Present       float64 // what is chosen, on the horizontal axis; 0: it is not there
	PresentName   string

	From, To  float64 // of the horizontal axis, which is logarithmic
	Low, Top  float64 // of the vertical axis
	XUnit     string  // behind the numbers of the axes
	YUnit     string
	YPrefix   string
	KeepAll   time.Duration // step time without a limit, 0 if unknown
	asBatches bool
}

// ReplyLine is the line of a strategy.
type ReplyLine struct {
	Strategy, Title string
	Points          []ReplyPoint // by X
	Largest         *ReplyPoint  // the largest batch that trains; nil if there is none
}

// ReplyPoint is a point of a line and the answer that it is.
type ReplyPoint struct {
	X, Y   float64
	Answer int // index into Asked.Answers
}

// Margins of these charts in CSS pixels; where there is room, the names stand
// behind the lines and need more.
const (
	replyLeft   = 52.0
	replyRight  = 16.0
	replyTop    = 18.0
	replyBottom = 26.0
)

// slowestShown is the largest slowdown that the axis shows, as in 000's figure 3
// what is slower is of no use.
const slowestShown = 4.0

// NewLinks is the step time over bandwidth; nil if it was not asked for.
func NewLinks(s *state.State, width, height float64) *Reply {
	a := s.Asked(proto.Links)
	if a == nil || len(a.Answers) == 0 {
		return nil
	}
	rates := state.LinkRates()
	r := &Reply{Width: width, Height: height, Chosen: s.Choice.Strategy, KeepAll: a.KeepAll, XUnit: " GB/s", YPrefix: "×",
		From: gigabytes(rates[0]), To: gigabytes(rates[len(rates)-1])}
	if c := s.Choice; c.ToHost > 0 && c.ToHost == c.ToDev {
		r.Present, r.PresentName = gigabytes(c.ToHost), format.Rate(c.ToHost)
	}
	unit := a.KeepAll
	if unit <= 0 {
		unit, r.YPrefix, r.YUnit = time.Millisecond, "", " ms"
	}
	r.Low, r.Top = math.Inf(1), 0
	for i, x := range a.Answers {
		if x.StepTime <= 0 {
			continue
		}
		y := float64(x.StepTime) / float64(unit)
		r.add(x.Strategy, ReplyPoint{gigabytes(x.Rate), y, i})
		r.Low, r.Top = min(r.Low, y), max(r.Top, y)
	}
	if a.KeepAll > 0 {
		r.Low, r.Top = 1, min(r.Top, slowestShown)
	}
	r.frame()
	return r
}

func gigabytes(r engine.Rate) float64 { return float64(r) / 1e9 }

// add puts a point into its strategy's line.
func (r *Reply) add(strategy string, p ReplyPoint) {
	l := r.line(strategy)
	l.Points = append(l.Points, p)
	slices.SortFunc(l.Points, func(a, b ReplyPoint) int {
		switch {
		case a.X < b.X:
			return -1
		case a.X > b.X:
			return 1
		}
		return 0
	})
}

func (r *Reply) line(strategy string) *ReplyLine {
	for i := range r.Lines {
		if r.Lines[i].Strategy == strategy {
			return &r.Lines[i]
		}
	}
	title := strategy
	if st := engine.Lookup(strategy); st != nil {
		title = st.Title
	}
	r.Lines = append(r.Lines, ReplyLine{Strategy: strategy, Title: title})
	return &r.Lines[len(r.Lines)-1]
}

// frame leaves some room above and below the lines.
func (r *Reply) frame() {
	if r.Top <= r.Low {
		r.Low, r.Top = min(r.Low, r.Top), max(r.Top, r.Low)+0.1
	}
	if math.IsInf(r.Low, 0) || math.IsInf(r.Top, 0) {
		r.Low, r.Top = 0, 1
	}
	room := (r.Top - r.Low) * 0.08
	r.Low, r.Top = r.Low-room, r.Top+room
	if r.asBatches {
		r.Low = 0
	}
}

// right is the margin behind the lines.
func (r *Reply) right() float64 {
	if r.Width < roomForLabels {
		return replyRight
	}
	widest := 0.0
	for i := range r.Lines {
		widest = max(widest, (&named{name: r.Lines[i].Title}).width())
	}
	return min(widest+8, r.Width*0.42)
}

// X is the place of a bandwidth or batch size, in CSS pixels from the left, Y that
// of an amount from the top.
func (r *Reply) X(v float64) float64 {
	share := math.Log(v/r.From) / math.Log(r.To/r.From)
	return replyLeft + (r.Width-replyLeft-r.right())*share
}

// Y is the place of an amount, in CSS pixels from the top.
func (r *Reply) Y(v float64) float64 {
	return replyTop + (r.Height-replyTop-replyBottom)*(r.Top-v)/(r.Top-r.Low)
}

// Nearest is the answer that is nearest to a place, -1 if none is near.
func (r *Reply) Nearest(x, y float64) int {
	best, found := reach*reach, -1
	for _, l := range r.Lines {
		points := l.Points
		if l.Largest != nil {
			points = append(points[:len(points):len(points)], *l.Largest)
		}
		for _, p := range points {
			dx, dy := r.X(p.X)-x, r.Y(p.Y)-y
			if d := dx*dx + dy*dy; d < best {
				best, found = d, p.Answer
			}
		}
	}
	return found
}

// Option is the chart as an ECharts option.
func (r *Reply) Option(look Look) ([]byte, error) {
	var o node
	if err := json.Unmarshal(questionTemplate, &o); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	dress(o, look)
	set(o, px(r.right()), "grid", "0", "right")
	set(o, 2, "xAxis", "0", "logBase")
	set(o, r.From, "xAxis", "0", "min")
	set(o, r.To, "xAxis", "0", "max")
	set(o, "{value}"+r.XUnit, "xAxis", "0", "axisLabel", "formatter")
	set(o, r.Low, "yAxis", "0", "min")
	set(o, r.Top, "yAxis", "0", "max")
	set(o, r.YPrefix+"{value}"+r.YUnit, "yAxis", "0", "axisLabel", "formatter")
	set(o, false, "yAxis", "0", "axisLabel", "showMinLabel")
	set(o, false, "yAxis", "0", "axisLabel", "showMaxLabel")
	templates := o["series"].([]any)
	series := []any{}
	if r.Present >= r.From && r.Present <= r.To {
		s := clone(templates[seriesPresent]).(node)
		set(s, r.Present, "markLine", "data", "0", "xAxis")
		set(s, r.PresentName, "markLine", "label", "formatter")
		set(s, look.Font, "markLine", "label", "fontFamily")
		series = append(series, s)
	}
	names := r.names()
	for i := range r.Lines {
		series = append(series, r.method(clone(templates[seriesMethod]).(node), i, names[i], look))
		if p := r.Lines[i].Largest; p != nil {
			s := clone(templates[seriesMark]).(node)
			set(s, look.Colours[Role(r.Lines[i].Strategy)], "itemStyle", "color")
			s["data"] = []any{node{"symbol": "diamond", "symbolSize": 11, "value": [2]float64{p.X, p.Y}}}
			series = append(series, s)
		}
	}
	for _, s := range series {
		s.(node)["silent"] = true
	}
	o["series"] = series
	return json.Marshal(o)
}

// method fills in the line of a strategy.
func (r *Reply) method(s node, i int, nameAt float64, look Look) node {
	l := &r.Lines[i]
	colour := look.Colours[Role(l.Strategy)]
	data := []any{}
	for _, p := range l.Points {
		if p.Y <= r.Top {
			data = append(data, node{"value": [2]float64{p.X, p.Y}})
		}
	}
	s["name"], s["data"] = l.Title, data
	set(s, colour, "lineStyle", "color")
	set(s, colour, "itemStyle", "color")
	if l.Strategy == r.Chosen {
		set(s, 2.6, "lineStyle", "width")
	}
	if d := Dash(l.Strategy); d != nil {
		set(s, d, "lineStyle", "type")
	}
	if end, ok := r.end(i); ok && r.Width >= roomForLabels {
		s["endLabel"] = endLabel(label{x: 6, y: end - nameAt, shown: true}, l.Title, look, draw.Ink)
	}
	return s
}

// end is where a line ends, in CSS pixels from the top.
func (r *Reply) end(i int) (float64, bool) {
	for _, p := range slices.Backward(r.Lines[i].Points) {
		if p.Y <= r.Top {
			return r.Y(p.Y), true
		}
	}
	return 0, false
}

// names are the places of the lines' names, from the top: at their ends, moved
// down where they would stand on each other.
func (r *Reply) names() []float64 {
	out := make([]float64, len(r.Lines))
	order := make([]int, 0, len(out))
	for i := range out {
		if at, ok := r.end(i); ok {
			out[i] = at
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(out[a] - out[b]) })
	last := math.Inf(-1)
	for _, i := range order {
		out[i] = max(out[i], last+labelHeight)
		last = out[i]
	}
	for over, k := last-(r.Height-replyBottom), len(order)-1; k >= 0 && over > 0; k-- { // back up where they leave the plot
		out[order[k]] -= over
		if k > 0 {
			over = out[order[k-1]] + labelHeight - out[order[k]]
		}
	}
	return out
}

// Words say what the chart shows.
func (r *Reply) Words() string {
	out := ""
	for _, l := range r.Lines {
		if len(l.Points) == 0 {
			continue
		}
		first, last := l.Points[0], l.Points[len(l.Points)-1]
		if out != "" {
			out += "; "
		}
		out += fmt.Sprintf("%s from %s at %s to %s at %s", l.Title, r.amount(first.Y), r.place(first.X), r.amount(last.Y), r.place(last.X))
	}
	return out
}

// PointWords name a point and say what it stands for.
func (r *Reply) PointWords(answer int) string {
	for _, l := range r.Lines {
		for _, p := range l.Points {
			if p.Answer == answer {
				return fmt.Sprintf("%s\n%s at %s", l.Title, r.amount(p.Y), r.place(p.X))
			}
		}
	}
	return ""
}

// amount is a number of the vertical axis, place one of the horizontal axis.
func (r *Reply) amount(y float64) string {
	return r.YPrefix + strconv.FormatFloat(y, 'g', 3, 64) + r.YUnit
}

func (r *Reply) place(x float64) string {
	if r.asBatches {
		return "batch " + format.Count(int(x))
	}
	return strconv.FormatFloat(x, 'g', -1, 64) + r.XUnit
}
