package tradeoff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
)

func init() {
	engine.Register(&engine.Strategy{Name: "testoffload", Title: "Offload", Class: engine.MayOffload})
}

// A line never rises with the budget: what fits into less fits into more. Neither
// does a bound: what bounds a budget bounds every smaller one.
func TestLinesFall(t *testing.T) {
	at := func(budget, step, bound int) *proto.Point {
		return &proto.Point{Strategy: "testoffload", Budget: engine.Bytes(budget), StepTime: time.Duration(step), Bound: time.Duration(bound)}
	}
	c := &Curve{Methods: []proto.Method{{Strategy: "testoffload"}}, Points: [][]*proto.Point{{at(1, 30, 10), at(2, 20, 15), at(3, 25, 12), at(4, 20, 11), at(5, 19, 11)}}}
	l := c.Lines()[0]
	text := func(l Line) string {
		var b strings.Builder
		for _, p := range l.Points {
			fmt.Fprintf(&b, "%d:%d ", p.Budget, p.StepTime)
		}
		return b.String()
	}
	for _, x := range []struct{ what, got, want string }{
		{"the line", text(l), "1:30 2:20 4:20 5:19 "},
		{"with a faster point between", text(l.With(LinePoint{Budget: 3, StepTime: 18})), "1:30 2:20 3:18 "},
		{"with a slower one", text(l.With(LinePoint{Budget: 3, StepTime: 28})), "1:30 2:20 4:20 5:19 "},
		{"with one instead of another", text(l.With(LinePoint{Budget: 2, StepTime: 19})), "1:30 2:19 5:19 "},
		{"the bound", text(c.Bounds()[0]), "1:15 2:15 3:12 4:11 5:11 "},
	} {
		if x.got != x.want {
			t.Errorf("%s is %q; want %q", x.what, x.got, x.want)
		}
	}
}

// What two methods of a class have proven is one bound: the larger one at each
// budget, and never less than at a larger budget.
func TestBoundsOfAClass(t *testing.T) {
	var l Line
	for _, p := range [][2]int{{3, 10}, {1, 12}, {2, 11}, {3, 13}, {4, 5}, {1, 9}} {
		l.Points = append(l.Points, LinePoint{Budget: engine.Bytes(p[0]), StepTime: time.Duration(p[1])})
	}
	l.lower()
	var got []string
	for _, p := range l.Points {
		got = append(got, fmt.Sprintf("%d:%d", p.Budget, p.StepTime))
	}
	if got, want := strings.Join(got, " "), "1:13 2:13 3:13 4:5"; got != want {
		t.Errorf("the bound is %s; want %s", got, want)
	}
}
