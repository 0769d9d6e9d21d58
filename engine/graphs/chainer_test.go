package graphs_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// chainerStep reads a graph of Kusumoto et al.: a line of counts, values with their sizes, and forward and backward
// functions in no particular order. A backward function makes gradients, which are added up as they come; gradients
// of parameters stay. A convolution takes ten units of time, other functions one.
func chainerStep(tb testing.TB, name string) *engine.Graph {
	tb.Helper()
	file, err := os.Open(publishedFolder + "chainer/" + name + ".txt")
	if err != nil {
		tb.Skip("the published graphs are not at ../shared/data/graphs")
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	numbers := func() (a, b int, rest string) {
		in.Scan()
		fmt.Sscan(in.Text(), &a, &b, &rest)
		return a, b, rest
	}
	values, functions, _ := numbers()
	g := &engine.Graph{Done: engine.NoValue}
	for range values {
		id, size, parameter := numbers()
		v := engine.Value{Name: fmt.Sprint(id), Size: engine.Bytes(size), PartOf: engine.NoValue}
		if parameter != "_" {
			v.Kind = engine.KindWeight
		}
		g.Values = append(g.Values, v)
	}
	var waiting [2][]chainerFunction
	for range functions {
		in.Scan()
		f := chainerFunction{backward: in.Text() == "backward"}
		reads, makes, _ := numbers()
		for range reads {
			var r chainerRead
			in.Scan()
			fmt.Sscan(in.Text(), &r.value, &r.kind)
			f.in = append(f.in, r)
		}
		for range makes {
			v, _, _ := numbers()
			f.out = append(f.out, engine.ValueID(v))
		}
		in.Scan()
		f.name = in.Text()
		in.Scan() // skip the line of details
		pass := 0
		if f.backward {
			pass = 1
		}
		waiting[pass] = append(waiting[pass], f)
	}
	chainerOps(g, waiting[0], waiting[1])
	if err := g.Validate(); err != nil {
		tb.Fatal(err)
	}
	return g
}

type chainerFunction struct {
	name     string
	backward bool
	in       []chainerRead
	out      []engine.ValueID
}

type chainerRead struct {
	value engine.ValueID
	kind  string
}

// chainerOps adds the functions in an order in which they can run, the backward ones in reverse.
func chainerOps(g *engine.Graph, forward, backward []chainerFunction) {
	made := make([]bool, len(g.Values))
	for _, f := range forward {
		made[f.out[0]] = true
	}
	for v := range g.Values {
		if made[v] = !made[v]; made[v] {
			g.Values[v].Initial = engine.OnDevice
		}
	}
	rank := make([]int, len(g.Values))
	for len(forward) > 0 {
		k := slices.IndexFunc(forward, func(f chainerFunction) bool {
			return !slices.ContainsFunc(f.in, func(r chainerRead) bool { return !made[r.value] })
		})
		f := forward[k]
		forward = slices.Delete(forward, k, k+1)
		op := engine.Op{Name: f.name, Time: f.time(), Out: f.out}
		for _, r := range f.in {
			op.In = append(op.In, r.value)
		}
		made[f.out[0]], rank[f.out[0]] = true, len(g.Ops)
		g.Ops = append(g.Ops, op)
	}
	slices.SortStableFunc(backward, func(a, b chainerFunction) int { return rank[b.of()] - rank[a.of()] })
	gradient := make([]engine.ValueID, len(g.Values))
	for _, f := range backward {
		op := engine.Op{Name: f.name, Pass: engine.Backward, Time: f.time()}
		for _, r := range f.in {
			switch v := r.value; {
			case r.kind != "gradient":
				op.In = append(op.In, v)
			case gradient[v] != 0:
				op.In = append(op.In, gradient[v])
			}
		}
		for _, v := range f.out {
			if gradient[v] != 0 {
				op.In = append(op.In, gradient[v])
			}
			gradient[v] = engine.ValueID(len(g.Values))
			op.Out = append(op.Out, gradient[v])
			g.Values = append(g.Values, engine.Value{Name: "d" + g.Values[v].Name, Size: g.Values[v].Size,
				Kind: g.Values[v].Kind, PartOf: engine.NoValue})
		}
		g.Ops = append(g.Ops, op)
	}
}

// of returns the value whose gradient the function reads first.
func (f *chainerFunction) of() engine.ValueID {
	for _, r := range f.in {
		if r.kind == "gradient" {
			return r.value
		}
	}
	return f.in[0].value
}

func (f *chainerFunction) time() time.Duration {
	if strings.Contains(f.name, "onvolution") {
		return 10
	}
	return 1
}

// BenchmarkChainer measures the least memory as a share of what keeping everything takes.
func BenchmarkChainer(b *testing.B) {
	for _, name := range []string{"cg_unet", "cg_resnet50", "cg_densenet"} {
		for _, method := range []string{"kusumoto", "graphsearch"} {
			b.Run(name+"/"+method, func(b *testing.B) {
				p := &engine.Problem{Graph: chainerStep(b, name), Device: enginetest.Device(engine.HalfDuplex),
					Budget: engine.NoLimit}
				for b.Loop() {
					keep, err := engine.Lookup("graphsearch").Solve(p, nil, nil)
					if err != nil {
						b.Fatal(err)
					}
					_, err = engine.Lookup(method).Solve(p.WithBudget(0), nil, nil)
					var infeasible *engine.InfeasibleError
					if !errors.As(err, &infeasible) {
						b.Fatal(err)
					}
					b.ReportMetric(100*float64(infeasible.Smallest)/float64(keep.Peak), "%least")
					b.ReportMetric(float64(keep.Peak)/float64(engine.GiB), "GiB")
				}
			})
		}
	}
}
