package question

import (
	"fmt"
	"math"
	"strconv"

	"memtide/web/choice"
)

// Chart is a line for each strategy over what the question varies, on an axis that
// is logarithmic.
type Chart struct {
	Lines       []Line
	Chosen      string  // name of the chosen strategy
	Present     float64 // what is chosen, on the horizontal axis; 0: it is not there
	PresentName string

	From, To float64 // of the horizontal axis
	Low, Top float64 // of the vertical axis; what is above is not drawn
	XUnit    string  // behind the numbers of the axes
	YUnit    string
	YPrefix  string

	place func(x float64) string // a place on the horizontal axis, in words; nil: the number with its unit
}

// Line is the line of a strategy.
type Line struct {
	Strategy, Title string
	Points          []Point // by X
	Mark            *Point  // one that stands out; nil: none does
}

// Point is a point of a line and the answer that it is.
type Point struct {
	X, Y   float64
	Answer int // index into Answers.List
}

// line is the line of a strategy, a new one if there is none.
func (c *Chart) line(strategy string) *Line {
	for i := range c.Lines {
		if c.Lines[i].Strategy == strategy {
			return &c.Lines[i]
		}
	}
	c.Lines = append(c.Lines, Line{Strategy: strategy, Title: choice.PlanName(strategy)})
	return &c.Lines[len(c.Lines)-1]
}

// add puts a point into its strategy's line.
func (c *Chart) add(strategy string, p Point) {
	l := c.line(strategy)
	l.Points = append(l.Points, p)
	for i := len(l.Points) - 1; i > 0 && l.Points[i-1].X > l.Points[i].X; i-- {
		l.Points[i-1], l.Points[i] = l.Points[i], l.Points[i-1]
	}
}

// frame leaves some room above and below the lines.
func (c *Chart) frame() {
	if c.Top <= c.Low {
		c.Low, c.Top = min(c.Low, c.Top), max(c.Top, c.Low)+0.1
	}
	if math.IsInf(c.Low, 0) || math.IsInf(c.Top, 0) {
		c.Low, c.Top = 0, 1
	}
	room := (c.Top - c.Low) * 0.08
	c.Low, c.Top = c.Low-room, c.Top+room
}

// Words say what the chart shows.
func (c *Chart) Words() string {
	out := ""
	for _, l := range c.Lines {
		if len(l.Points) == 0 {
			continue
		}
		first, last := l.Points[0], l.Points[len(l.Points)-1]
		if out != "" {
			out += "; "
		}
		out += fmt.Sprintf("%s from %s to %s", l.Title, c.words(first), c.words(last))
	}
	return out
}

// PointWords name a point and say what it stands for.
func (c *Chart) PointWords(answer int) string {
	for _, l := range c.Lines {
		for _, p := range l.Points {
			if p.Answer == answer {
				return l.Title + "\n" + c.words(p)
			}
		}
	}
	return ""
}

// words say where a point is.
func (c *Chart) words(p Point) string {
	at := strconv.FormatFloat(p.X, 'g', -1, 64) + c.XUnit
	if c.place != nil {
		at = c.place(p.X)
	}
	return c.YPrefix + strconv.FormatFloat(p.Y, 'g', 3, 64) + c.YUnit + " at " + at
}
