package graphs_test

import (
	"fmt"
	"os"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
)

// BenchmarkJoint measures what moving adds to recomputing on published graphs: the
// extra time in percent of both, and what moves, at 12 GB/s.
func BenchmarkJoint(b *testing.B) {
	published["UNET"] = "checkmate/vgg_unet_train"
	for _, name := range []string{"CM2", "UNET", "CM1"} {
		for _, percent := range []engine.Bytes{60, 40, 30} {
			b.Run(fmt.Sprintf("%s/.%d", name, percent/10), func(b *testing.B) {
				p := publishedProblem(b, name)
				for i := range p.Graph.Ops {
					p.Graph.Ops[i].Time *= 1000 // microseconds
				}
				p.Device.ToHost, p.Device.ToDev = 12e9, 12e9
				keep, err := engine.Lookup("graphsearch").Solve(p, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				p = p.WithBudget((keep.Peak*percent + 99) / 100)
				for _, by := range []string{"graphsearch", "window", "lms", "graphpofo"} {
					b.Run(by, func(b *testing.B) {
						for b.Loop() {
							sol, err := engine.Lookup(by).Solve(p, engine.Args{}, nil)
							if err != nil {
								b.Log(err)
								continue
							}
							trace, err := sim.Play(p, sol.Schedule)
							if err != nil {
								b.Fatal(err)
							}
							b.ReportMetric(100*float64(trace.Makespan-keep.Makespan)/float64(keep.Makespan), "%extra")
							if os.Getenv("NOTES") != "" {
								b.Log(sol.Notes)
							}
						}
					})
				}
			})
		}
	}
}
