package graphs_test

import (
	"fmt"
	"testing"

	"memtide/engine"
)

// BenchmarkJoint measures how much transfers improve on recomputation for published graphs, whose times are
// microseconds, with a link of 12 GB/s: extra time in percent.
func BenchmarkJoint(b *testing.B) {
	for _, name := range []string{"CM2", "UNET"} {
		for _, tenths := range []engine.Bytes{6, 4, 3} {
			for _, by := range []string{"graphsearch", "window", "lms", "graphpofo"} {
				b.Run(fmt.Sprintf("%s/.%d/%s", name, tenths, by), func(b *testing.B) {
					p := publishedProblem(b, name)
					for i := range p.Graph.Ops {
						p.Graph.Ops[i].Time *= 1000
					}
					p.Device.ToHost, p.Device.ToDev = 12e9, 12e9
					keep, err := engine.Lookup("keepall").Solve(p, nil, nil)
					if err != nil {
						b.Fatal(err)
					}
					p = p.WithBudget((keep.Peak*tenths + 9) / 10)
					for b.Loop() {
						sol, err := engine.Lookup(by).Solve(p, nil, nil)
						if err != nil {
							b.Skip(err)
						}
						b.ReportMetric(100*float64(sol.Makespan-keep.Makespan)/float64(keep.Makespan), "%extra")
						b.ReportMetric(100*float64(sol.Bound-keep.Makespan)/float64(keep.Makespan), "%bound")
					}
				})
			}
		}
	}
}
