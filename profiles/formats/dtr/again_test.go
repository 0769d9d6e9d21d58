package dtr

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/profiles"
)

// halves returns the log of a step that runs a network of three layers twice, each time with its backward pass,
// as a GAN's step does. Backward passes begin with the gradient of the loss and with functions whose names the
// forward has, too.
func halves(marked bool) string {
	d := &toy{}
	d.line(`{"ANNOTATION":"START","INSTRUCTION":"ANNOTATE"}`)
	d.constant("x", act)
	d.constant("w", weight)
	for half := range 2 {
		name := func(of string) string { return fmt.Sprint(of, half) }
		last := "x"
		for k := range 3 {
			d.call("addmm", last+" w", name(fmt.Sprint("a", k)), 10, act, -1)
			d.call("relu", name(fmt.Sprint("a", k)), name(fmt.Sprint("r", k)), 1, act, -1)
			d.release(name(fmt.Sprint("a", k)))
			last = name(fmt.Sprint("r", k))
		}
		d.call("neg", last, name("n"), 1, act, -1)
		d.call("mean", name("n"), name("loss"), 1, 4, -1)
		d.release(name("n"))
		if marked && half == 0 {
			d.line(`{"ANNOTATION":"BACKWARD","INSTRUCTION":"ANNOTATE"}`)
		}
		d.call("ones_like", name("loss"), name("one"), 1, 4, -1)
		d.call("div", name("one"), name("g"), 1, act, -1)
		d.call("neg", name("g"), name("g3"), 1, act, -1)
		for k := 2; k >= 0; k-- {
			d.call("threshold_backward", name(fmt.Sprint("g", k+1))+" "+name(fmt.Sprint("r", k)),
				name(fmt.Sprint("h", k)), 1, act, -1)
			d.call("mm", name(fmt.Sprint("h", k))+" w", name(fmt.Sprint("g", k)), 10, act, -1)
			d.release(name(fmt.Sprint("g", k+1)) + " " + name(fmt.Sprint("h", k)) + " " + name(fmt.Sprint("r", k)))
		}
		d.release(name("loss") + " " + name("one") + " " + name("g") + " " + name("g0"))
	}
	return d.b.String()
}

// TestHalves checks that the functions that the second half runs forward are forward operations that may run
// again, whether or not the log marks where the first backward begins.
func TestHalves(t *testing.T) {
	half := strings.Fields("addmm relu addmm relu addmm relu neg mean")
	back := strings.Fields("ones_like div neg threshold_backward mm threshold_backward mm threshold_backward mm")
	for _, marked := range []bool{false, true} {
		p, err := profiles.Decode("halves.log", profiles.Bytes(halves(marked)), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names [2][]string
		for _, op := range p.Graph.Ops {
			names[op.Pass] = append(names[op.Pass], op.Name)
		}
		if want := [2][]string{slices.Concat(half, half), slices.Concat(back, back)}; !slices.Equal(names[0],
			want[0]) || !slices.Equal(names[1], want[1]) {
			t.Errorf("marked %v: forward %v, backward %v; want %v", marked, names[0], names[1], want)
		}
		if p.Chain != nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "several backward passes") {
			t.Errorf("marked %v: chain %v, warnings %q; want no chain and why", marked, p.Chain, p.Warnings)
		}
		q := &engine.Problem{Graph: p.Graph, Budget: engine.NoLimit}
		whole, err := engine.Lookup("keepall").Solve(q, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		sol, err := engine.Lookup("graphsearch").Solve(q.WithBudget(whole.Peak-2*act), nil, nil)
		if err != nil {
			t.Fatalf("marked %v: %v; want the forward operations of both halves to run again", marked, err)
		}
		runs := make([]int, len(p.Graph.Ops))
		for _, st := range sol.Schedule {
			if st.Kind == engine.DoRun {
				runs[st.Op]++
			}
		}
		n := len(runs) / 2
		if slices.Max(runs[:n]) < 2 || slices.Max(runs[n:]) < 2 {
			t.Errorf("marked %v: operations ran %v times; want some of each half again", marked, runs)
		}
	}
}
