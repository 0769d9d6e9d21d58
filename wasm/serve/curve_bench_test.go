package serve

import (
	"context"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// curveRequest returns a request for a strategy's points on a curve like the page's: 40 budgets, from the least
// with which every operation can run to the peak of keeping everything.
func curveRequest(b *testing.B, preset, strategy string) *proto.Sweep {
	b.Helper()
	q := &proto.Sweep{Setting: setting(preset), Methods: []proto.Method{{Strategy: strategy}}}
	nw := new(Server).network(&q.Setting.Network)
	low := engine.Bytes(0)
	for i := range nw.problem.Graph.Ops {
		op := &nw.problem.Graph.Ops[i]
		need := op.Temp
		for _, v := range op.In {
			need += nw.problem.Graph.Values[v].Size
		}
		low = max(low, need)
	}
	low += nw.problem.Graph.Fixed
	for i := range engine.Bytes(40) {
		q.Budgets = append(q.Budgets, choice.Budget{Bytes: low + (nw.keepAll.Peak-low)*(i+1)/40})
	}
	return q
}

// BenchmarkCurve measures what the trade-off curve of one strategy costs a worker: 40 budgets are solved, played,
// checked and bounded. It also reports the time of the slowest point, the number of points, and how far the
// points are above the lower bound on average.
func BenchmarkCurve(b *testing.B) {
	for _, preset := range []string{"resnet50-b32", "resnet101-b32"} {
		for _, s := range engine.Strategies() {
			if s.Class == 0 || strings.HasPrefix(s.Name, "test") {
				continue
			}
			b.Run("net="+preset+"/strategy="+s.Name, func(b *testing.B) {
				q := curveRequest(b, preset, s.Name)
				for b.Loop() {
					benchmarkCurve(b, q)
				}
			})
		}
	}
}

func benchmarkCurve(b *testing.B, q *proto.Sweep) {
	var server Server
	var slowest time.Duration
	var above float64
	points := 0
	_, err := proto.Do(context.Background(), server.Handle, q, func(p *proto.Point) {
		slowest = max(slowest, p.Took)
		if p.StepTime > 0 {
			points++
			above += 100 * (float64(p.StepTime)/float64(p.Bound) - 1)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(slowest.Seconds()*1e3, "slowest-ms")
	b.ReportMetric(float64(points), "points")
	b.ReportMetric(above/float64(max(points, 1)), "%above")
}
