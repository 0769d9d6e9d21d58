package graphs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// publishedFolder holds public graphs that only measurements use.
const publishedFolder = "../../../shared/data/graphs/"

// published are the instances of MOCCASIN (arXiv:2304.14463, Table 2), and two more of Checkmate.
var published = map[string]string{
	"RLG1": "layered/random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14",
	"RLG2": "layered/random_layered_n250_w0.43_nlv0.75_ed0.2_scd0.14",
	"RLG4": "layered/random_layered_n1000_w0.31_nlv0.75_ed0.2_scd0.14",
	"CM1":  "checkmate/fcn_8_vgg_train",
	"CM2":  "checkmate/ResNet50_train",
	"MN":   "checkmate/MobileNet_train",
	"UNET": "checkmate/vgg_unet_train",
}

// publishedProblem returns an instance, in its input order, without a budget.
func publishedProblem(tb testing.TB, name string) *engine.Problem {
	tb.Helper()
	data, err := os.ReadFile(publishedFolder + published[name] + ".json")
	if err != nil {
		tb.Skip("the published graphs are not at ../shared/data/graphs")
	}
	var file struct {
		Graph struct{ Order []int }
		Nodes []struct {
			ID       int
			Name     any   // in the layered graphs, the number of the node
			Out      int64 `json:"out_cost"`
			Duration int64
			CPU      int64 `json:"cost_cpu"`
			RAM      int64 `json:"cost_ram"`
		}
		Links []struct {
			Source, Target int
			From           int `json:"0"` // in the layered graphs
			To             int `json:"1"`
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		tb.Fatal(err)
	}
	at := map[int]int{}
	g := &engine.Graph{Done: engine.NoValue, Ops: make([]engine.Op, len(file.Nodes)),
		Values: make([]engine.Value, len(file.Nodes))}
	for k, id := range file.Graph.Order {
		at[id] = k
	}
	for i, n := range file.Nodes {
		if id, ok := n.Name.(float64); ok {
			n.ID = int(id)
		}
		k, ok := at[n.ID]
		if !ok {
			k, at[n.ID] = i, i
		}
		g.Values[k] = engine.Value{Name: fmt.Sprint(n.ID), Size: engine.Bytes(n.Out + n.RAM), PartOf: engine.NoValue}
		g.Ops[k] = engine.Op{Name: fmt.Sprint(n.ID), Time: time.Duration(n.Duration + n.CPU),
			Out: []engine.ValueID{engine.ValueID(k)}}
	}
	for _, l := range file.Links {
		from, to := at[l.Source+l.From], at[l.Target+l.To]
		g.Ops[to].In = append(g.Ops[to].In, engine.ValueID(from))
	}
	return &engine.Problem{Graph: g, Device: enginetest.Device(engine.HalfDuplex), Budget: engine.NoLimit}
}

// BenchmarkPublished measures the cells of MOCCASIN's table: extra time in percent, with the order kept and with
// any order, and the bound.
func BenchmarkPublished(b *testing.B) {
	for _, name := range []string{"RLG1", "RLG2", "RLG4", "CM1", "CM2"} {
		for _, tenths := range []engine.Bytes{9, 8} {
			for _, order := range []string{"kept", "any"} {
				b.Run(fmt.Sprintf("%s/.%d/%s", name, tenths, order), func(b *testing.B) {
					p := publishedProblem(b, name)
					keep, err := engine.Lookup("graphsearch").Solve(p, nil, nil)
					if err != nil {
						b.Fatal(err)
					}
					p = p.WithBudget((keep.Peak*tenths + 9) / 10)
					extra := func(d time.Duration) float64 {
						return 100 * float64(d-keep.Makespan) / float64(keep.Makespan)
					}
					seed := 0
					for b.Loop() {
						seed++
						sol, err := engine.Lookup("graphsearch").Solve(p,
							engine.Args{"order": order, "seed": fmt.Sprint(seed)}, nil)
						if err != nil {
							b.Fatal(err)
						}
						b.ReportMetric(extra(sol.Makespan), "%extra")
						b.ReportMetric(extra(sol.Bound), "%bound")
					}
				})
			}
		}
	}
}
