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
	} {
		if x.got != x.want {
			t.Errorf("%s is %q; want %q", x.what, x.got, x.want)
		}
	}
}

// What bounds a budget bounds every smaller one, of a class the largest that is proven.
func TestBoundOfAClass(t *testing.T) {
	at := func(budget, bound int) *proto.Point {
		return &proto.Point{Budget: engine.Bytes(budget), Bound: time.Duration(bound)}
	}
	c := &Curve{Methods: []proto.Method{{Strategy: "testoffload"}}, Points: [][]*proto.Point{{at(1, 10), at(2, 15), at(3, 12), nil, at(5, 11)}}}
	class := engine.Lookup("testoffload").Class
	for budget, want := range map[engine.Bytes]time.Duration{1: 15, 2: 15, 3: 12, 4: 11, 5: 11, 6: 0} {
		if got := c.Bound(class, budget); got != want {
			t.Errorf("in %d bytes the bound is %d; want %d", budget, got, want)
		}
	}
	if got := c.Bound(0, 1); got != 0 {
		t.Errorf("the bound of another class is %d; want none", got)
	}
}
