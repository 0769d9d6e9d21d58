package tradeoff

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
)

func init() {
	engine.Register(&engine.Strategy{Name: "testoffload", Title: "Offload", Class: engine.MayOffload})
	engine.Register(&engine.Strategy{Name: "testtogether", Title: "Together", Class: engine.MayOffload, Mark: 1,
		Sweeper: func(*engine.Problem, engine.Parsed, []engine.Bytes, *engine.Poll,
			func(int, *engine.Solution, error)) {
		}})
}

// TestLinesFall checks that the step time of a line does not rise with the budget, because a schedule that fits
// into a budget fits into every larger one.
func TestLinesFall(t *testing.T) {
	at := func(budget, step, bound int) *proto.Point {
		return &proto.Point{Strategy: "testoffload", Budget: engine.Bytes(budget), StepTime: time.Duration(step),
			Bound: time.Duration(bound)}
	}
	c := &Curve{Methods: []proto.Method{{Strategy: "testoffload"}},
		Points: [][]*proto.Point{{at(1, 30, 10), at(2, 20, 15), at(3, 25, 12), at(4, 20, 11), at(5, 19, 11)}}}
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

// TestCombinedLine checks that the line of the best combined plan is never below those of its parts while it is
// searched for, and not final before theirs are.
func TestCombinedLine(t *testing.T) {
	for name, class := range map[string]engine.Class{"testboth": engine.MayRecompute | engine.MayOffload,
		"testonly": engine.MayRecompute} {
		engine.Register(&engine.Strategy{Name: name, Title: name, Class: class, Mark: 2, Rank: engine.Rank{Chain: 1}})
	}
	late := &proto.Failure{Kind: proto.Deadline}
	both := []*proto.Point{{Budget: 1, StepTime: 40}, {Budget: 2, StepTime: 35, Failure: late}, nil, {Budget: 4, Failure: late}}
	only := []*proto.Point{{Budget: 1, StepTime: 39}, {Budget: 2, StepTime: 30}, {Budget: 3, StepTime: 25},
		{Budget: 4, StepTime: 20, Failure: late}}
	c := &Curve{Methods: []proto.Method{{Strategy: "testboth"}, {Strategy: "testonly"}}, Budgets: []engine.Bytes{1, 2, 3, 4},
		Points: [][]*proto.Point{both, only}}
	var got []time.Duration
	for _, p := range c.Lines()[0].Points {
		got = append(got, p.StepTime)
	}
	if want := []time.Duration{40, 30, 25, 20}; !slices.Equal(got, want) || c.Lines()[0].Open != 2 {
		t.Errorf("the combined line is %v, open from %d; want %v from 2: a finished point is its own", got, c.Lines()[0].Open, want)
	}
	if f := c.Found("testboth", 3); f.StepTime != 25 || !f.AtMost {
		t.Errorf("found %+v in 3; want at most 25", f)
	}
	both[2], c.improved = &proto.Point{Budget: 3, StepTime: 24}, 1
	if got := c.Lines()[0].Open; got != 4 {
		t.Errorf("open from %d; want from 4, whose part may become faster", got)
	}
	c.improved = 2
	if got := c.Lines()[0].Open; got != 0 {
		t.Errorf("open from %d; want none", got)
	}
}

// TestFound checks what is known of a strategy in a budget from the points at others: a schedule of a smaller one, and
// that what a larger one is too small for does not fit. Nothing fits below the first budget.
func TestFound(t *testing.T) {
	unfit := func(smallest engine.Bytes) *proto.Failure {
		return &proto.Failure{Kind: proto.Infeasible, Smallest: smallest}
	}
	c := &Curve{Methods: []proto.Method{{Strategy: "testoffload"}}, Budgets: []engine.Bytes{10, 20, 30, 40}}
	none, four := &proto.Point{Budget: 10, Failure: unfit(0)}, &proto.Point{Budget: 40, StepTime: 9}
	for _, x := range []struct {
		points []*proto.Point
		budget engine.Bytes
		want   Found
	}{
		{[]*proto.Point{none, nil, nil, four}, 15, Found{Failure: unfit(0)}},
		{[]*proto.Point{none, {Budget: 20, Failure: unfit(25)}, nil, four}, 15, Found{Failure: unfit(25)}},
		{[]*proto.Point{none, {Budget: 20, Failure: unfit(25)}, nil, four}, 28, Found{}},
		{[]*proto.Point{none, {Budget: 20, StepTime: 12, Peak: 18}, nil, four}, 15, Found{Failure: unfit(20)}},
		{[]*proto.Point{none, {Budget: 20, StepTime: 12, Peak: 18}, nil, four}, 35, Found{StepTime: 12, Peak: 18, AtMost: true}},
		{[]*proto.Point{nil, nil, nil, four}, 5, Found{Failure: unfit(0)}},
		{[]*proto.Point{{Budget: 10, StepTime: 12}, nil, nil, four}, 5, Found{Failure: unfit(10)}},
		{[]*proto.Point{nil, nil, nil, four}, 15, Found{}},
	} {
		c.Points = [][]*proto.Point{x.points}
		if got := c.Found("testoffload", x.budget); !reflect.DeepEqual(got, x.want) {
			t.Errorf("in %d of %v: %+v, %+v; want %+v, %+v", x.budget, x.points, got, got.Failure, x.want, x.want.Failure)
		}
	}
	if got := c.Found("testtogether", 5); !reflect.DeepEqual(got, Found{Failure: unfit(0)}) {
		t.Errorf("a strategy that the curve does not draw, below the first budget: %+v; want that it does not fit", got)
	}
}

// TestLinesNeverMoveDown checks that no line gets slower at any budget, and that its final part does not change,
// whatever the order in which the points of a sweep arrive.
func TestLinesNeverMoveDown(t *testing.T) {
	const budgets = 8
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		c := &Curve{ID: 1, Methods: []proto.Method{{Strategy: "testoffload"}, {Strategy: "testtogether"}},
			Points: [][]*proto.Point{make([]*proto.Point, budgets), make([]*proto.Point, budgets)}}
		for b := range engine.Bytes(budgets) {
			c.Budgets = append(c.Budgets, b+1)
		}
		c.Missing(proto.Setting{}, "")
		last, final := map[string]time.Duration{}, map[string]bool{}
		look := func() {
			for _, l := range c.Lines() {
				best := time.Duration(0)
				for _, b := range c.Budgets {
					for _, p := range l.Points {
						if p.Budget == b {
							best = p.StepTime
						}
					}
					key := fmt.Sprint(l.Title, b)
					if before := last[key]; best > 0 && before > 0 && (best > before || best < before && final[key]) {
						t.Fatalf("%s: %v and then %v, final %t; want it never slower, and what is final as it was",
							key, before, best, final[key])
					}
					last[key], final[key] = best, best > 0 && (l.Open == 0 || b < l.Open)
				}
			}
		}
		for method := range 2 {
			order := rng.Perm(budgets)
			if method == 0 { // one budget after the other
				slices.Sort(order)
			}
			for _, i := range append(order, order[:method*2]...) {
				p := proto.Point{Method: method, Index: i, Budget: c.Budgets[i],
					StepTime: time.Duration(100 - 5*i - rng.IntN(5))}
				if old := c.Points[method][i]; old != nil { // the point comes again, with a better time
					p.StepTime = old.StepTime - 1
				}
				c.Take(p)
				look()
			}
		}
		c.End(proto.Reference{})
		look()
		for _, l := range c.Lines() {
			if l.Open != 0 {
				t.Errorf("%s is open from %d on after the sweep; want all of it final", l.Title, l.Open)
			}
		}
	}
}

// TestUnfinishedIsOpen checks that a point that will be given more time is not final.
func TestUnfinishedIsOpen(t *testing.T) {
	late := &proto.Point{Budget: 2, StepTime: 20, Failure: proto.Fail(proto.Deadline, "late")}
	c := &Curve{Methods: []proto.Method{{Strategy: "testoffload"}}, Budgets: []engine.Bytes{1, 2},
		Points: [][]*proto.Point{{{Budget: 1, StepTime: 30}, late}}}
	if got := c.Lines()[0].Open; got != 2 {
		t.Errorf("before more time is given it is open from %d on; want 2", got)
	}
	c.Unfinished(proto.Setting{})
	c.End(proto.Reference{})
	if got := c.Lines()[0].Open; got != 0 {
		t.Errorf("after that it is open from %d on; want that it is final", got)
	}
}

// TestBoundOfAClass checks that a bound for a budget holds for every smaller one, and that the bound of a class
// is the largest that is proven.
func TestBoundOfAClass(t *testing.T) {
	at := func(budget, bound int) *proto.Point {
		return &proto.Point{Budget: engine.Bytes(budget), Bound: time.Duration(bound)}
	}
	c := &Curve{Methods: []proto.Method{{Strategy: "testoffload"}},
		Points: [][]*proto.Point{{at(1, 10), at(2, 15), at(3, 12), nil, at(5, 11)}}}
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
