package engine

import (
	"strings"
	"testing"
)

// An operation of another lane has one algorithm, and its values are not parts of others.
func TestLanesValidate(t *testing.T) {
	LinkLanes(nil)
	for _, c := range []struct {
		name   string
		change func(g *Graph)
		want   string // part of the error message; empty means a valid graph
	}{
		{"as it is", func(*Graph) {}, ""},
		{"a lane that does not exist", func(g *Graph) { g.Ops[1].Lane = 3 }, "lane 3, which does not exist"},
		{"after itself", func(g *Graph) { g.Ops[1].After = []OpID{1} }, "only operations that stand before it"},
		{"a second way", func(g *Graph) { g.Ops[1].Alt = &Alt{} }, "cannot have a second algorithm"},
		{"workspace on the host", func(g *Graph) { g.Ops[1].Lane, g.Ops[1].Temp = LaneCPU, 1 },
			"its workspace is not on the device"},
		{"a part is read", func(g *Graph) { g.Values[0].PartOf = 2 }, "cannot read a part of a value, a"},
		{"a part is made", func(g *Graph) { g.Values[1].PartOf = 2 }, "cannot be a part or have parts: b"},
		{"what has a part is made", func(g *Graph) { g.Values[2].PartOf = 1 }, "cannot be a part or have parts: b"},
		{"made in two lanes", func(g *Graph) { g.Ops[0].Out = []ValueID{1} }, "makes b, which another lane makes too"},
		{"made twice", func(g *Graph) { g.Ops[1].Out = []ValueID{1, 1} }, "makes b twice"},
	} {
		g := &Graph{Done: NoValue, Values: []Value{{Name: "a", Initial: OnDevice, PartOf: NoValue},
			{Name: "b", PartOf: NoValue}, {Name: "c", PartOf: NoValue}},
			Ops: []Op{{Name: "F"}, {Name: "gather", Lane: LaneNetwork, In: []ValueID{0}, Out: []ValueID{1},
				After: []OpID{0}}}}
		c.change(g)
		err := g.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v; want %q", c.name, err, c.want)
		}
		if p := (&Problem{Graph: g, Transfers: Streamed}); c.want == "" && p.Validate() == nil {
			t.Errorf("%s: streamed transfers are accepted; want them refused", c.name)
		}
	}
}
