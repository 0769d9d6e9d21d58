package serve

import (
	"context"
	"testing"

	"memtide/wasm/proto"
	"memtide/web/choice"
)

// BenchmarkAnswer measures what a worker does for one movement of the budget: solve, play, check, compute bounds,
// and encode the answer.
func BenchmarkAnswer(b *testing.B) {
	for _, preset := range []string{"resnet50-b32", "resnet101-b32"} {
		b.Run("net="+preset, func(b *testing.B) {
			var s Server
			q := &proto.Solve{Setting: setting(preset), Method: proto.Method{Strategy: "rotor"},
				Budget: choice.Budget{Share: 60 * choice.Percent}}
			size := 0
			for b.Loop() {
				r := proto.Ended(s.Handle(context.Background(), q, nil))
				if r.Failure != nil {
					b.Fatal(r.Failure)
				}
				message, err := proto.EncodeReply(r)
				if err != nil {
					b.Fatal(err)
				}
				size = len(message)
			}
			b.ReportMetric(float64(size), "message-bytes")
		})
	}
}
